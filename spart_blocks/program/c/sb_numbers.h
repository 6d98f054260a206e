/* Numbers of one run, or of several runs side by side, for sb_step.h and what is written of a program.

   The including file first defines, or leaves as they are:
     SB_LANES   how many numbers SB_REAL holds: 1, 2, 4 or 8
     SB_SINGLE  of single precision; not 2, half a register, of which LLVM 22 makes wrong code

   In every build each lane has the same bits, those of one lane: what IEEE 754 rounds is written
   with operators, sine and its like are written once, as polynomials of them, and the rest calls
   math.h lane by lane (sb_elementary.h, sb_rarer.h). No lane branches alone. A NaN stays one, of any payload.
   All is compiled with -ffp-contract=off (NVRTC: --fmad=false), and with -fno-tree-slp-vectorize,
   since gcc 12 makes vfmaddsub of neighbours all the same.

   CUDA: one thread is one run, of one lane. A kernel is an SB_KERNEL; SB_THREAD is the number of
   the thread, of SB_THREADS. Compiled as C, a kernel is a function with one thread. */

#ifndef SB_NUMBERS_H
#define SB_NUMBERS_H

#ifndef SB_LANES
#define SB_LANES 1
#endif
#if defined(SB_SINGLE) && SB_LANES == 2
#error "two lanes of single precision"
#endif

#ifdef __CUDACC_RTC__ /* its functions of math.h need no header */
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#else
#include <math.h>
#endif

/* gcc mixes independent operations before it allocates registers: the dynamics of a 7-joint arm in
   eight lanes take 52 ns in place of 58. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif

#ifdef __CUDACC__
#define SB_KERNEL extern "C" __global__
#define SB_THREAD ((long long)blockIdx.x * blockDim.x + threadIdx.x)
#define SB_THREADS ((long long)gridDim.x * blockDim.x)
#else
#define SB_KERNEL
#define SB_THREAD 0LL
#define SB_THREADS 1LL
#endif

#ifdef __CUDACC__
#define SB_FUNCTION static __device__
#define SB_UNUSED
#define SB_WITHIN static __device__ __forceinline__
#define SB_APART static __device__ __noinline__
#elif defined(__clang__)
#define SB_FUNCTION static
#define SB_UNUSED __attribute__((unused))
#define SB_WITHIN static inline __attribute__((always_inline, unused))
#define SB_APART static __attribute__((noinline, unused))
#else
#define SB_FUNCTION static
#define SB_UNUSED __attribute__((unused))
#define SB_WITHIN static inline __attribute__((always_inline, unused))
#define SB_APART static __attribute__((noipa, unused)) /* nothing known of an argument changes it */
#endif

#ifdef __CUDACC__
#define SB_UNLIKELY(condition) (condition)
#else
#define SB_UNLIKELY(condition) __builtin_expect(condition, 0)
#endif

#ifdef __CUDACC__
#define SB_TABLE static __device__ const
#else
#define SB_TABLE static const
#endif
#ifdef __cplusplus
#define SB_RESTRICT __restrict__
#else
#define SB_RESTRICT restrict
#endif

/* --- one number -------------------------------------------------------------------------- */

#ifdef SB_SINGLE
typedef float sb_scalar;
typedef unsigned sb_word; /* of as many bits */
#define SB_MATH(name) name##f
#define SB_FRACTION 23 /* bits of the fraction */
#else
typedef double sb_scalar;
typedef unsigned long long sb_word;
#define SB_MATH(name) name
#define SB_FRACTION 52
#endif
#define SB_SCALAR sb_scalar
#define SB_NUMBER(value) ((SB_SCALAR)(value)) /* a constant */
#ifdef SB_SINGLE
#define SB_LARGE(value) SB_NUMBER((value) > 0 ? INFINITY : -INFINITY)
#else
#define SB_LARGE(value) SB_NUMBER(value)
#endif
#define SB_WORD(value) ((sb_word)(value))

/* --- SB_REAL, SB_MASK of its comparisons, SB_WORDS of its bits ----------------------------- */

#if SB_LANES == 1

#define SB_REAL SB_SCALAR
#define SB_MASK int
#define SB_INDEX int
#define SB_WORDS sb_word
#define SB_OF(value) ((SB_REAL)(value))
#define SB_ANY(mask) (mask)
#define SB_NOT(mask) (!(mask))
#define SB_SELECT(mask, a, b) ((mask) ? (a) : (b))
#define SB_PICK(mask, a, b) ((mask) ? (a) : (b))
#ifdef __CUDACC__
#ifdef SB_SINGLE
SB_WITHIN SB_WORDS sb_bits(SB_REAL a) { return __float_as_int(a); }
SB_WITHIN SB_REAL sb_of_bits(SB_WORDS a) { return __int_as_float(a); }
#else
SB_WITHIN SB_WORDS sb_bits(SB_REAL a) { return __double_as_longlong(a); }
SB_WITHIN SB_REAL sb_of_bits(SB_WORDS a) { return __longlong_as_double(a); }
#endif
#else
typedef union {
  SB_REAL number;
  SB_WORDS bits;
} sb_both;
SB_WITHIN SB_WORDS sb_bits(SB_REAL a) {
  sb_both both;
  both.number = a;
  return both.bits;
}
SB_WITHIN SB_REAL sb_of_bits(SB_WORDS a) {
  sb_both both;
  both.bits = a;
  return both.number;
}
#endif
#define SB_TABLE_BY_LANE(name) \
  SB_WITHIN SB_REAL name##_lanes(SB_REAL a) { return name(a); }
#define SB_ROOT(a) SB_MATH(sqrt)(a)

#else

typedef sb_scalar sb_real __attribute__((vector_size(SB_LANES * sizeof(sb_scalar))));
typedef sb_word sb_words __attribute__((vector_size(SB_LANES * sizeof(sb_scalar))));
typedef sb_words sb_mask; /* what a comparison gives */
typedef union {
  sb_real all;
  sb_scalar of[SB_LANES];
} sb_lanes;
#define SB_REAL sb_real
#define SB_MASK sb_mask
#define SB_INDEX sb_mask
#define SB_WORDS sb_words
#define SB_OF(value) ((sb_scalar)(value) - (sb_real){0}) /* also of -0 */
#define SB_NOT(mask) (~(mask))
#define SB_PICK(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define sb_bits(a) ((sb_words)(a))
#define sb_of_bits(a) ((sb_real)(a))
typedef unsigned long long sb_two __attribute__((vector_size(16)));
#define SB_TWOS (sizeof(sb_mask) / sizeof(sb_two))
typedef union {
  sb_mask all;
  sb_two of[SB_TWOS];
} sb_twos;
SB_WITHIN int SB_ANY(sb_mask m) { /* halves, quarters, ...: lane by lane takes three times as long */
  sb_twos z;
  sb_two any;
  z.all = m;
  any = z.of[0];
  for (unsigned k = 1; k < SB_TWOS; k++) any |= z.of[k];
  return (any[0] | any[1]) != 0;
}
SB_WITHIN sb_real SB_SELECT(sb_mask m, sb_real a, sb_real b) {
  return (sb_real)((m & (sb_mask)a) | (~m & (sb_mask)b));
}
#define SB_TABLE_BY_LANE(name)                                                    \
  SB_APART sb_real name##_lanes(sb_real a) {                                      \
    sb_lanes z;                                                                   \
    z.all = a;                                                                    \
    for (int k = 0; k < SB_LANES; k++) z.of[k] = name(z.of[k]);                   \
    return z.all;                                                                 \
  }
#if defined(__clang__) && __has_builtin(__builtin_elementwise_sqrt)
#define SB_ROOT(a) __builtin_elementwise_sqrt(a)
#else
SB_WITHIN sb_real SB_ROOT(sb_real a) { /* compilers make one instruction of it */
  sb_lanes z;
  z.all = a;
  for (int k = 0; k < SB_LANES; k++) z.of[k] = SB_MATH(sqrt)(z.of[k]);
  return z.all;
}
#endif

#endif

/* --- what IEEE 754 rounds ------------------------------------------------------------------ */

#define SB_SIGN_BIT (SB_WORD(1) << (8 * sizeof(sb_scalar) - 1))

SB_WITHIN SB_REAL sb_fabs(SB_REAL a) { return sb_of_bits(sb_bits(a) & ~SB_SIGN_BIT); }
SB_WITHIN SB_REAL sb_copysign(SB_REAL a, SB_REAL b) {
  return sb_of_bits((sb_bits(a) & ~SB_SIGN_BIT) | (sb_bits(b) & SB_SIGN_BIT));
}
SB_WITHIN SB_REAL sb_sqrt(SB_REAL a) { return SB_ROOT(a); }
/* The other one of a NaN, as fmin and fmax have it. */
SB_WITHIN SB_REAL sb_fmin(SB_REAL a, SB_REAL b) { return SB_SELECT((a < b) | (b != b), a, b); }
SB_WITHIN SB_REAL sb_fmax(SB_REAL a, SB_REAL b) { return SB_SELECT((a > b) | (b != b), a, b); }
SB_WITHIN SB_REAL sb_sign(SB_REAL a) {
  return SB_SELECT(a < 0, SB_OF(-1), SB_SELECT(a > 0, SB_OF(1), a));
}
/* The whole number next to a; of two, the even one. */
SB_WITHIN SB_REAL sb_rint(SB_REAL a) {
  const SB_SCALAR whole = (SB_SCALAR)(SB_WORD(1) << SB_FRACTION); /* and all beyond it */
  SB_REAL size = sb_fabs(a), near = (size + whole) - whole;
  return SB_SELECT(size < whole, sb_copysign(near, a), a);
}
SB_WITHIN SB_REAL sb_floor(SB_REAL a) {
  SB_REAL near = sb_rint(a);
  return sb_copysign(SB_SELECT(near > a, near - 1, near), a);
}
SB_WITHIN SB_REAL sb_ceil(SB_REAL a) {
  SB_REAL near = sb_rint(a);
  return sb_copysign(SB_SELECT(near < a, near + 1, near), a);
}
/* Comparisons as numbers, and back. */
SB_WITHIN SB_REAL sb_number(SB_MASK m) { return SB_SELECT(m, SB_OF(1), SB_OF(0)); }
SB_WITHIN SB_REAL sb_where_true(SB_MASK m, SB_REAL a) { return SB_SELECT(m, a, SB_OF(0)); }

#define SB_ABS sb_fabs
#define SB_MIN sb_fmin
#define SB_MAX sb_fmax
#define SB_SQRT sb_sqrt
#define SB_POW sb_pow
#define SB_CEIL sb_ceil

#endif
