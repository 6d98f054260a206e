/* Elementary functions that fewer programs call, as those of sb_elementary.h, in double precision.

   Errors are below 1 unit in the last place; of cosh, hypot and erf below 1.5, of sinh, asinh,
   acosh and atanh below 2; fmod and remainder are exact. What is outside the range of one goes to
   math.h, lane by lane.

   Reductions of arguments are those of W. J. Cody and W. Waite, "Software manual for the elementary
   functions" (1980), and of fdlibm; the coefficients are of minimax fits made for this file, by the
   exchange of Remez in 50 digits. */

#ifndef SB_RARER_H
#define SB_RARER_H

#ifndef SB_SINGLE

SB_WHERE(sb_tan_of_math, tan)
SB_WHERE(sb_sinh_of_math, sinh)
SB_WHERE(sb_cosh_of_math, cosh)
SB_WHERE(sb_asinh_of_math, asinh)
SB_WHERE(sb_acosh_of_math, acosh)
SB_WHERE(sb_atanh_of_math, atanh)
SB_WHERE(sb_log1p_of_math, log1p)
SB_WHERE_OF_TWO(sb_hypot_of_math, hypot)
SB_WHERE_OF_TWO(sb_fmod_of_math, fmod)
SB_WHERE_OF_TWO(sb_remainder_of_math, remainder)

/* --- tangent ------------------------------------------------------------------------------------ */

/* The quotient of sums of two parts, rounded about once. */
SB_WITHIN SB_REAL sb_quotient(sb_pair a, sb_pair b) {
  SB_REAL q = a.high / b.high;
  sb_pair p = sb_product_of(q, b.high);
  return q + (((a.high - p.high) - p.low) + (a.low - q * b.low)) / b.high;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_tan(SB_REAL a) {
  SB_REAL y, rest, w, less, more, z;
  SB_WORDS quarter;
  SB_MASK rare = sb_quarters(a, &y, &rest, &quarter), odd = (SB_MASK)((quarter & 1) != 0);
  sb_pair sine, cosine, over, under;
  less = sb_small_sine(y, rest);
  more = sb_small_cosine(y, rest, &w);
  sine = sb_sum_of(y, -less);
  cosine = sb_sum_of(w, more);
  over.high = SB_SELECT(odd, -cosine.high, sine.high);
  over.low = SB_SELECT(odd, -cosine.low, sine.low);
  under.high = SB_SELECT(odd, sine.high, cosine.high);
  under.low = SB_SELECT(odd, sine.low, cosine.low);
  z = sb_quotient(over, under);
  z = SB_SELECT(sb_fabs(a) < 1e-9, a, z); /* and the sign of zero */
  SB_RARELY(rare, z, sb_tan_of_math(rare, a, z));
  return z;
}

/* --- arcus sine and cosine ------------------------------------------------------------------------ */

#define SB_QUARTER_TURN 1.57079632679489655800e+00
#define SB_QUARTER_TURN_REST 6.12323399573676603587e-17

/* asin(x) / x - 1 for z = x^2 <= 1/4 */
SB_WITHIN SB_REAL sb_arc(SB_REAL z) {
  SB_REAL p = 0.009833107020477605 +
              z * (0.001248473714458168 +
                   z * (0.02363542011355113 +
                        z * (-0.02467045664032886 + z * 0.03282171829717216)));
  p = 0.01735289703978529 +
      z * (0.013962517948395837 +
           z * (0.011579945470130219 + z * (0.009521916110551015 + z * p)));
  p = 0.04464285714134271 + z * (0.030381944562204832 + z * (0.022372154072187685 + z * p));
  return z * (0.16666666666666666 + z * (0.07500000000000821 + z * p));
}

/* For |a| > 1/2, with z = (1 - |a|) / 2: asin(|a|) = pi/2 - 2 asin(s), s = sqrt(z). high + low: s
   in two parts; the square of high is exact. */
SB_WITHIN SB_REAL sb_half_arc(SB_REAL z, SB_REAL *high, SB_REAL *low) {
  SB_REAL s = sb_sqrt(z), sum;
  *high = sb_of_bits(sb_bits(s) & 0xffffffff00000000ULL);
  sum = s + *high;
  *low = (z - *high * *high) / SB_SELECT(sum == 0, SB_OF(1), sum);
  return s;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_asin(SB_REAL a) {
  SB_REAL size = sb_fabs(a), z, arc, s, high, low, y;
  SB_MASK far = size > 0.5;
  z = SB_SELECT(far, 0.5 * (1.0 - size), size * size);
  arc = sb_arc(z);
  s = sb_half_arc(z, &high, &low);
  y = 2.0 * (s * arc) - (SB_QUARTER_TURN_REST - 2.0 * low);
  y = 0.5 * SB_QUARTER_TURN - (y - (0.5 * SB_QUARTER_TURN - 2.0 * high));
  return sb_copysign(SB_SELECT(far, y, size + size * arc), a);
}

SB_FUNCTION SB_UNUSED SB_REAL sb_acos(SB_REAL a) {
  SB_REAL size = sb_fabs(a), z, arc, s, high, low, near, right, left;
  SB_MASK far = size > 0.5;
  z = SB_SELECT(far, 0.5 * (1.0 - size), size * size);
  arc = sb_arc(z);
  s = sb_half_arc(z, &high, &low);
  near = SB_QUARTER_TURN - (a - (SB_QUARTER_TURN_REST - a * arc));
  right = 2.0 * (high + (s * arc + low));
  left = 2.0 * SB_QUARTER_TURN - 2.0 * (s + (s * arc - SB_QUARTER_TURN_REST));
  return SB_SELECT(far, SB_SELECT(a < 0, left, right), near);
}

/* --- hyperbolic functions ------------------------------------------------------------------------- */

SB_FUNCTION SB_UNUSED SB_REAL sb_sinh(SB_REAL a) {
  SB_REAL size = sb_fabs(a), z = size * size, e = sb_exp_of_sum(size, SB_OF(0)), near, y;
  SB_MASK rare = SB_NOT(size <= 708);
  near = 2.75573192240913e-06 +
         z * (2.5052108351432686e-08 +
              z * (1.605905005755448e-10 + z * (7.646514457869073e-13 + z * 2.847482890698119e-15)));
  near = z * (0.16666666666666666 + z * (0.008333333333333333 + z * (0.0001984126984126967 + z * near)));
  y = sb_copysign(SB_SELECT(size < 1, size + size * near, 0.5 * e - 0.5 / e), a);
  SB_RARELY(rare, y, sb_sinh_of_math(rare, a, y));
  return y;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_cosh(SB_REAL a) {
  SB_REAL size = sb_fabs(a), e = sb_exp_of_sum(size, SB_OF(0)), y = 0.5 * e + 0.5 / e;
  SB_MASK rare = SB_NOT(size <= 708);
  SB_RARELY(rare, y, sb_cosh_of_math(rare, a, y));
  return y;
}

/* log(1 + a), -1 < a <= 1e300: what is missing of the sum is added at the end. */
SB_WITHIN SB_REAL sb_log_beside_one(SB_REAL a) {
  SB_REAL sum = 1.0 + a, n, f = sb_parts(sum, &n) - 1.0, y;
  SB_REAL missing = SB_SELECT(a > 1, 1.0 - (sum - a), a - (sum - 1.0));
  SB_MASK near = n == 0; /* 1 + a is its own part */
  y = sb_log_of_parts(n, SB_SELECT(near, a, f), SB_SELECT(near, SB_OF(0), missing / sum));
  return SB_SELECT(sb_fabs(a) < 1e-20, a, y); /* and the sign of zero */
}

SB_FUNCTION SB_UNUSED SB_REAL sb_log1p(SB_REAL a) {
  SB_REAL y = sb_log_beside_one(a);
  SB_MASK rare = SB_NOT((a > -1) & (a <= 1e300));
  SB_RARELY(rare, y, sb_log1p_of_math(rare, a, y));
  return y;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_asinh(SB_REAL a) {
  SB_REAL size = sb_fabs(a), z = size * size, y;
  SB_MASK rare = SB_NOT(size <= 1e150);
  y = sb_copysign(sb_log_beside_one(size + z / (1.0 + sb_sqrt(1.0 + z))), a);
  SB_RARELY(rare, y, sb_asinh_of_math(rare, a, y));
  return y;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_acosh(SB_REAL a) {
  SB_REAL more = a - 1.0, y = sb_log_beside_one(more + sb_sqrt(2.0 * more + more * more));
  SB_MASK rare = SB_NOT((a >= 1) & (a <= 1e150));
  SB_RARELY(rare, y, sb_acosh_of_math(rare, a, y));
  return y;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_atanh(SB_REAL a) {
  SB_REAL size = sb_fabs(a), twice = 2.0 * size, y;
  SB_MASK rare = SB_NOT(size < 1);
  y = sb_copysign(0.5 * sb_log_beside_one(twice + twice * size / (1.0 - size)), a);
  SB_RARELY(rare, y, sb_atanh_of_math(rare, a, y));
  return y;
}

/* --- the integral of Gauss ------------------------------------------------------------------------ */

/* Below 1 x + x Q(x^2); from there on 1 - exp(-x^2) G((x - 2) / (x + 2)). */
SB_FUNCTION SB_UNUSED SB_REAL sb_erf(SB_REAL a) {
  SB_REAL size = sb_fabs(a), x = SB_SELECT(size > 6, SB_OF(6), size), z = x * x, q, g, t;
  q = 1.64610084778027e-06 +
      z * (-1.6350396222864617e-07 +
           z * (1.466032872274226e-08 +
                z * (-1.137495573607015e-09 + z * 5.960685338520971e-11)));
  q = 0.005223977624828431 +
      z * (-0.0008548326981425542 +
           z * (0.0001205533113295582 + z * (-1.4925595772180906e-05 + z * q)));
  q = 0.1283791670955126 +
      z * (-0.3761263890318375 +
           z * (0.11283791670954885 + z * (-0.026866170645077875 + z * q)));
  t = (x - 2.0) / (x + 2.0);
  g = 4.353617078515736e-05 +
      t * (0.00017428829078912039 +
           t * (2.7622624313446783e-05 +
                t * (-2.6612003001598707e-05 + t * -1.2644106623377079e-05)));
  g = 0.0037328923984627626 +
      t * (0.0069974617855011745 +
           t * (-0.0008471425877736791 + t * (-0.0009819764622669112 + t * g)));
  g = 0.25539567631050575 +
      t * (-0.4271858474139568 +
           t * (0.2416581942424688 + t * (-0.07897858101642115 + t * g)));
  return sb_copysign(SB_SELECT(size < 1, size + size * q, 1.0 - sb_exp_of_sum(-z, SB_OF(0)) * g), a);
}

/* --- lengths and remainders ----------------------------------------------------------------------- */

SB_FUNCTION SB_UNUSED SB_REAL sb_hypot(SB_REAL a, SB_REAL b) {
  SB_REAL x = sb_fabs(a), y = sb_fabs(b), size = SB_SELECT(x > y, x, y), z = sb_sqrt(x * x + y * y);
  SB_MASK rare = SB_NOT((x <= 1e150) & (y <= 1e150) & ((size >= 1e-140) | (size == 0)));
  SB_RARELY(rare, z, sb_hypot_of_math(rare, a, b, z));
  return z;
}

/* a - q b, 0 <= a - q b < b, for a, b >= 0 of usual sizes with a / b < 2^52: exact, since a
   rounded quotient is at most one too large, and Dekker's product is exact. */
SB_WITHIN SB_REAL sb_left(SB_REAL a, SB_REAL b, SB_REAL *q) {
  SB_REAL whole = sb_floor(a / b), left;
  sb_pair p = sb_product_of(whole, b);
  left = (a - p.high) - p.low;
  *q = SB_SELECT(left < 0, whole - 1.0, whole);
  return SB_SELECT(left < 0, left + b, left);
}
SB_WITHIN SB_MASK sb_has_unusual_quotient(SB_REAL a, SB_REAL b) {
  return SB_NOT((b >= 1e-290) & (b <= 1e290) & (a <= 1e290) & (a < 4e15 * b));
}

SB_FUNCTION SB_UNUSED SB_REAL sb_fmod(SB_REAL a, SB_REAL b) {
  SB_REAL x = sb_fabs(a), y = sb_fabs(b), q, z = sb_copysign(sb_left(x, y, &q), a);
  SB_MASK rare = sb_has_unusual_quotient(x, y);
  SB_RARELY(rare, z, sb_fmod_of_math(rare, a, b, z));
  return z;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_remainder(SB_REAL a, SB_REAL b) {
  SB_REAL x = sb_fabs(a), y = sb_fabs(b), q, z = sb_left(x, y, &q), half = 0.5 * q;
  SB_MASK rare = sb_has_unusual_quotient(x, y), odd = sb_floor(half) != half;
  SB_MASK beyond = z + z > y, between = z + z == y;
  z = SB_SELECT(beyond | (between & odd), z - y, z);
  z = sb_of_bits(sb_bits(z) ^ (sb_bits(a) & SB_SIGN_BIT));
  SB_RARELY(rare, z, sb_remainder_of_math(rare, a, b, z));
  return z;
}

#endif

#endif
