/* Elementary functions over the numbers of sb_numbers.h.

   In double precision those that matter for speed are polynomials, the same text for one lane and
   several. Errors are below 1 unit in the last place; of expm1 and atan2 below 1.5, and of tanh below
   2.5, as glibc's. What is outside the range of one goes to math.h, lane by lane; so does all that
   is rare, and all in single precision.

   The methods and the coefficients of the polynomials are those of fdlibm (Sun Microsystems, 1993;
   K. C. Ng): s_sin.c, k_sin.c, k_cos.c, e_rem_pio2.c, e_exp.c, e_log.c, s_atan.c, s_expm1.c; the
   sums and products of two parts are those of T. J. Dekker, "A floating-point technique for
   extending the available precision" (1971). */

#ifndef SB_ELEMENTARY_H
#define SB_ELEMENTARY_H

/* --- math.h, lane by lane ------------------------------------------------------------------ */

#if SB_LANES == 1
#define SB_BY_LANE(name, f) \
  SB_APART SB_REAL name(SB_REAL a) { return SB_MATH(f)(a); }
#define SB_BY_LANE_OF_TWO(name, f) \
  SB_APART SB_REAL name(SB_REAL a, SB_REAL b) { return SB_MATH(f)(a, b); }
#define SB_WHERE(name, f) \
  SB_APART SB_REAL name(SB_MASK m, SB_REAL a, SB_REAL z) { return m ? SB_MATH(f)(a) : z; }
#define SB_WHERE_OF_TWO(name, f)                                      \
  SB_APART SB_REAL name(SB_MASK m, SB_REAL a, SB_REAL b, SB_REAL z) { \
    return m ? SB_MATH(f)(a, b) : z;                                  \
  }
#else
#define SB_BY_LANE(name, f)                                            \
  SB_APART SB_REAL name(SB_REAL a) {                                   \
    sb_lanes z;                                                        \
    z.all = a;                                                         \
    for (int k = 0; k < SB_LANES; k++) z.of[k] = SB_MATH(f)(z.of[k]);  \
    return z.all;                                                      \
  }
#define SB_BY_LANE_OF_TWO(name, f)                                     \
  SB_APART SB_REAL name(SB_REAL a, SB_REAL b) {                        \
    sb_lanes y, z;                                                     \
    y.all = a, z.all = b;                                              \
    for (int k = 0; k < SB_LANES; k++) z.of[k] = SB_MATH(f)(y.of[k], z.of[k]); \
    return z.all;                                                      \
  }
#define SB_WHERE(name, f)                                              \
  SB_APART SB_REAL name(SB_MASK m, SB_REAL a, SB_REAL z) {             \
    for (int k = 0; k < SB_LANES; k++)                                 \
      if (m[k]) z[k] = SB_MATH(f)(a[k]);                               \
    return z;                                                          \
  }
#define SB_WHERE_OF_TWO(name, f)                                       \
  SB_APART SB_REAL name(SB_MASK m, SB_REAL a, SB_REAL b, SB_REAL z) {  \
    for (int k = 0; k < SB_LANES; k++)                                 \
      if (m[k]) z[k] = SB_MATH(f)(a[k], b[k]);                         \
    return z;                                                          \
  }
#endif
/* z, and in some lanes, which are rare, what math.h gives. */
#define SB_RARELY(m, z, call) \
  if (SB_UNLIKELY(SB_ANY(m))) z = call

SB_BY_LANE_OF_TWO(sb_nextafter, nextafter)

#ifdef SB_SINGLE

SB_BY_LANE(sb_sin, sin)
SB_BY_LANE(sb_cos, cos)
SB_BY_LANE(sb_exp, exp)
SB_BY_LANE(sb_expm1, expm1)
SB_BY_LANE(sb_log, log)
SB_BY_LANE(sb_atan, atan)
SB_BY_LANE(sb_tanh, tanh)
SB_BY_LANE(sb_tan, tan)
SB_BY_LANE(sb_asin, asin)
SB_BY_LANE(sb_acos, acos)
SB_BY_LANE(sb_sinh, sinh)
SB_BY_LANE(sb_cosh, cosh)
SB_BY_LANE(sb_asinh, asinh)
SB_BY_LANE(sb_acosh, acosh)
SB_BY_LANE(sb_atanh, atanh)
SB_BY_LANE(sb_log1p, log1p)
SB_BY_LANE(sb_erf, erf)
SB_BY_LANE_OF_TWO(sb_pow, pow)
SB_BY_LANE_OF_TWO(sb_atan2, atan2)
SB_BY_LANE_OF_TWO(sb_hypot, hypot)
SB_BY_LANE_OF_TWO(sb_fmod, fmod)
SB_BY_LANE_OF_TWO(sb_remainder, remainder)
SB_WITHIN void sb_sincos(SB_REAL a, SB_REAL *s, SB_REAL *c) {
  *s = sb_sin(a);
  *c = sb_cos(a);
}

#else

/* a + SB_ROUNDER has the whole number next to a in its last bits, for |a| < 2^51. */
#define SB_ROUNDER 6755399441055744.0

/* --- sine and cosine ----------------------------------------------------------------------- */

SB_WHERE(sb_sin_of_math, sin)
SB_WHERE(sb_cos_of_math, cos)

/* a = n pi/2 + y + rest, |y| <= pi/4: three parts of pi/2, the first two with products that are
   exact. quarter: n in its last bits. Returns where this does not hold: far from zero, and next
   to a multiple, where y would be what is missing of pi/2. */
SB_WITHIN SB_MASK sb_quarters(SB_REAL a, SB_REAL *y, SB_REAL *rest, SB_WORDS *quarter) {
  SB_REAL whole = a * 6.36619772367581382433e-01 + SB_ROUNDER, n = whole - SB_ROUNDER;
  SB_REAL near = a - n * 1.57079632673412561417e+00, part = n * 6.07710050630396597660e-11;
  SB_REAL nearer = near - part;
  SB_REAL left = n * 2.02226624879595063154e-21 - ((near - nearer) - part);
  SB_MASK rare;
  *quarter = sb_bits(whole);
  *y = nearer - left;
  *rest = (nearer - *y) - left;
  rare = SB_NOT(sb_fabs(a) <= 1e5);
  rare |= sb_fabs(*y) < sb_fabs(n) * 2e-19;
  return rare;
}

/* Of y + rest, which is at most pi/4 in size: what is to be taken from y. */
SB_WITHIN SB_REAL sb_small_sine(SB_REAL y, SB_REAL rest) {
  SB_REAL z = y * y, v = z * y;
  SB_REAL p = 8.33333333332248946124e-03 +
              z * (-1.98412698298579493134e-04 +
                   z * (2.75573137070700676789e-06 +
                        z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return (z * (0.5 * rest - v * p) - rest) - v * -1.66666666666666324348e-01;
}
/* And what is to be added to w, which is 1 - y^2 / 2 rounded. */
SB_WITHIN SB_REAL sb_small_cosine(SB_REAL y, SB_REAL rest, SB_REAL *w) {
  SB_REAL z = y * y, half = 0.5 * z;
  SB_REAL p = z * (4.16666666666666019037e-02 +
                   z * (-1.38888888888741095749e-03 +
                        z * (2.48015872894767294178e-05 +
                             z * (-2.75573143513906633035e-07 +
                                  z * (2.08757232129817482790e-09 +
                                       z * -1.13596475577881948265e-11)))));
  *w = 1.0 - half;
  return ((1.0 - *w) - half) + (z * p - y * rest);
}

SB_WITHIN void sb_sincos(SB_REAL a, SB_REAL *sine, SB_REAL *cosine) {
  SB_REAL y, rest, s, c, w;
  SB_WORDS quarter;
  SB_MASK rare = sb_quarters(a, &y, &rest, &quarter), odd = (SB_MASK)((quarter & 1) != 0);
  s = y - sb_small_sine(y, rest);
  c = sb_small_cosine(y, rest, &w);
  c = w + c;
  /* Each quarter makes the one the other; in two of four its sign is turned. */
  *sine = sb_of_bits(sb_bits(SB_SELECT(odd, c, s)) ^ ((quarter << 62) & SB_SIGN_BIT));
  *cosine = sb_of_bits(sb_bits(SB_SELECT(odd, s, c)) ^ (((quarter + 1) << 62) & SB_SIGN_BIT));
  if (SB_UNLIKELY(SB_ANY(rare))) {
    *sine = sb_sin_of_math(rare, a, *sine);
    *cosine = sb_cos_of_math(rare, a, *cosine);
  }
}
SB_WITHIN SB_REAL sb_sin(SB_REAL a) {
  SB_REAL s, c;
  sb_sincos(a, &s, &c);
  return s;
}
SB_WITHIN SB_REAL sb_cos(SB_REAL a) {
  SB_REAL s, c;
  sb_sincos(a, &s, &c);
  return c;
}

/* --- exponential and logarithm --------------------------------------------------------------- */

SB_WHERE(sb_exp_of_math, exp)
SB_WHERE(sb_expm1_of_math, expm1)
SB_WHERE(sb_log_of_math, log)
SB_WHERE_OF_TWO(sb_pow_of_math, pow)

#define SB_LN2 6.93147180369123816490e-01      /* its products with exponents are exact */
#define SB_LN2_REST 1.90821492927058770002e-10

/* a 2^n for a whole number with n in its last bits, where nothing leaves the range. */
SB_WITHIN SB_REAL sb_scaled(SB_REAL a, SB_WORDS n) { return sb_of_bits(sb_bits(a) + (n << 52)); }

/* e^(a + more), |a| <= 708 */
SB_WITHIN SB_REAL sb_exp_of_sum(SB_REAL a, SB_REAL more) {
  SB_REAL whole = a * 1.44269504088896338700e+00 + SB_ROUNDER, n = whole - SB_ROUNDER;
  SB_REAL high = a - n * SB_LN2, low = n * SB_LN2_REST - more, r = high - low, t = r * r;
  SB_REAL c = r - t * (1.66666666666666019037e-01 +
                       t * (-2.77777777770155933842e-03 +
                            t * (6.61375632143793436117e-05 +
                                 t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  return sb_scaled(1.0 - ((low - (r * c) / (2.0 - c)) - high), sb_bits(whole));
}
SB_FUNCTION SB_UNUSED SB_REAL sb_exp(SB_REAL a) {
  SB_MASK rare = SB_NOT(sb_fabs(a) <= 708);
  SB_REAL z = sb_exp_of_sum(a, SB_OF(0));
  SB_RARELY(rare, z, sb_exp_of_math(rare, a, z));
  return z;
}

SB_FUNCTION SB_UNUSED SB_REAL sb_expm1(SB_REAL a) {
  SB_MASK rare = SB_NOT(sb_fabs(a) <= 700);
  SB_REAL whole = a * 1.44269504088896338700e+00 + SB_ROUNDER, n = whole - SB_ROUNDER;
  SB_REAL high = a - n * SB_LN2, low = n * SB_LN2_REST, x = high - low, c = (high - x) - low;
  SB_REAL half = 0.5 * x, s = x * half;
  SB_REAL p = 1.0 + s * (-3.33333333333331316428e-02 +
                         s * (1.58730158725481460165e-03 +
                              s * (-7.93650757867487942473e-05 +
                                   s * (4.00821782732936239552e-06 + s * -2.01099218183624371326e-07))));
  SB_REAL t = 3.0 - p * half, e = s * ((p - t) / (6.0 - x * t)), z;
  e = (x * (e - c) - c) - s;
  z = sb_scaled((1.0 - sb_scaled(SB_OF(1), -sb_bits(whole))) - (e - x), sb_bits(whole));
  z = SB_SELECT(sb_fabs(a) < 1e-20, a, z); /* and the sign of zero */
  SB_RARELY(rare, z, sb_expm1_of_math(rare, a, z));
  return z;
}

/* a = 2^n m, 1/sqrt(2) <= m < sqrt(2), for a that is normal. */
SB_WITHIN SB_REAL sb_parts(SB_REAL a, SB_REAL *n) {
  const sb_word least = 0x3fe6a09e667f3bcdULL, one = 0x3ff0000000000000ULL;
  SB_WORDS bits = sb_bits(a) + (one - least);
  *n = sb_of_bits((bits >> 52) | 0x4330000000000000ULL) - (4503599627370496.0 + 1023);
  return sb_of_bits((bits & 0x000fffffffffffffULL) + least);
}
/* Whether a is not a positive normal number. */
SB_WITHIN SB_MASK sb_has_no_parts(SB_REAL a) {
  return SB_NOT((a >= 2.2250738585072014e-308) & (a <= 1.7976931348623157e308));
}

/* The logarithm of 2^n (1 + f), 1/sqrt(2) <= 1 + f < sqrt(2), and more, which is small. */
SB_WITHIN SB_REAL sb_log_of_parts(SB_REAL n, SB_REAL f, SB_REAL more) {
  SB_REAL half = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
  SB_REAL even = w * (3.999999999940941908e-01 +
                      w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  SB_REAL odd = z * (6.666666666666735130e-01 +
                     w * (2.857142874366239149e-01 +
                          w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return n * SB_LN2 - ((half - (s * (half + (odd + even)) + (n * SB_LN2_REST + more))) - f);
}

SB_FUNCTION SB_UNUSED SB_REAL sb_log(SB_REAL a) {
  SB_MASK rare = sb_has_no_parts(a);
  SB_REAL n, f = sb_parts(a, &n) - 1.0, y = sb_log_of_parts(n, f, SB_OF(0));
  SB_RARELY(rare, y, sb_log_of_math(rare, a, y));
  return y;
}

/* --- powers: a logarithm in two parts ---------------------------------------------------------- */

typedef struct {
  SB_REAL high, low;
} sb_pair;

SB_WITHIN sb_pair sb_sum_of(SB_REAL a, SB_REAL b) { /* |a| >= |b| */
  sb_pair z;
  z.high = a + b;
  z.low = b - (z.high - a);
  return z;
}
SB_WITHIN sb_pair sb_product_of(SB_REAL a, SB_REAL b) {
  const SB_SCALAR cut = 134217729.0; /* 2^27 + 1 */
  SB_REAL p = a * cut, q = b * cut;
  SB_REAL a1 = p - (p - a), b1 = q - (q - b), a2 = a - a1, b2 = b - b1;
  sb_pair z;
  z.high = a * b;
  z.low = ((a1 * b1 - z.high) + a1 * b2 + a2 * b1) + a2 * b2;
  return z;
}
SB_WITHIN sb_pair sb_product(sb_pair a, sb_pair b) {
  sb_pair z = sb_product_of(a.high, b.high);
  return sb_sum_of(z.high, z.low + (a.high * b.low + a.low * b.high));
}

/* The logarithm of a normal number, to 2^-63 of it: with s = (m - 1) / (m + 1) that of m is
   2 s + s z (2/3 + 2/5 z + 2/7 z^2 + ...), z = s^2, of which the first two terms need two parts. */
SB_WITHIN sb_pair sb_log_in_two(SB_REAL a) {
  SB_REAL n, m = sb_parts(a, &n), f = m - 1.0, sum = m + 1.0, missing = m - (sum - 1.0), p, w;
  sb_pair s, z, c;
  s.high = f / sum;
  c = sb_product_of(s.high, sum);
  s.low = (((f - c.high) - c.low) - s.high * missing) / sum;
  z = sb_product(s, s);
  w = z.high;
  p = 2.0 / 19 + w * (2.0 / 21 + w * (2.0 / 23));
  p = 2.0 / 11 + w * (2.0 / 13 + w * (2.0 / 15 + w * (2.0 / 17 + w * p)));
  p = w * (2.0 / 5 + w * (2.0 / 7 + w * (2.0 / 9 + w * p)));
  c = sb_sum_of(SB_OF(2.0 / 3), p);
  c.low += 3.700743415417188e-17; /* what 2/3 is more than that */
  c = sb_product(s, sb_product(z, c));
  c.low += 2.0 * s.low;
  s = sb_sum_of(2.0 * s.high, c.high);
  s.low += c.low;
  z = sb_sum_of(n * SB_LN2, s.high);
  return sb_sum_of(z.high, z.low + (s.low + n * SB_LN2_REST));
}

/* Within 1 unit in the last place where a is positive; other powers are of math.h. */
SB_FUNCTION SB_UNUSED SB_REAL sb_pow(SB_REAL a, SB_REAL b) {
  sb_pair log = sb_log_in_two(a), product = sb_product_of(log.high, b);
  SB_REAL z = sb_exp_of_sum(product.high, product.low + log.low * b);
  SB_MASK rare = sb_has_no_parts(a);
  rare |= SB_NOT(sb_fabs(b) <= 1e100);
  rare |= SB_NOT(sb_fabs(product.high) <= 708);
  SB_RARELY(rare, z, sb_pow_of_math(rare, a, b, z));
  return z;
}

/* --- arcus tangent, hyperbolic tangent ---------------------------------------------------------- */

SB_WHERE_OF_TWO(sb_atan2_of_math, atan2)

/* atan(b / a) for a, b >= 0: that of c, one of 0, 1/2, 1, 3/2, infinity, and of
   (b - c a) / (a + c b). */
SB_WITHIN SB_REAL sb_angle(SB_REAL b, SB_REAL a) {
  SB_MASK half = b >= 0.4375 * a, one = b >= 0.6875 * a, more = b >= 1.1875 * a, steep = b >= 2.4375 * a;
  SB_REAL zero = SB_OF(0), c, high, low, over, under, t, z, w, odd, even;
  c = SB_SELECT(half, SB_SELECT(one, SB_SELECT(more, SB_OF(1.5), SB_OF(1.0)), SB_OF(0.5)), zero);
  high = SB_SELECT(more, SB_OF(9.82793723247329054082e-01), SB_OF(7.85398163397448278999e-01));
  high = SB_SELECT(one, high, SB_OF(4.63647609000806093515e-01));
  high = SB_SELECT(steep, SB_OF(1.57079632679489655800e+00), SB_SELECT(half, high, zero));
  low = SB_SELECT(more, SB_OF(1.39033110312309984516e-17), SB_OF(3.06161699786838301793e-17));
  low = SB_SELECT(one, low, SB_OF(2.26987774527616870924e-17));
  low = SB_SELECT(steep, SB_OF(6.12323399573676603587e-17), SB_SELECT(half, low, zero));
  over = SB_SELECT(steep, -a, b - c * a);
  under = SB_SELECT(steep, b, a + c * b);
  t = over / under, z = t * t, w = z * z;
  odd = z * (3.33333333333329318027e-01 +
             w * (1.42857142725034663711e-01 +
                  w * (9.09088713343650656196e-02 +
                       w * (6.66107313738753120669e-02 +
                            w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  even = w * (-1.99999999998764832476e-01 +
              w * (-1.11111104054623557880e-01 +
                   w * (-7.69187620504482999495e-02 +
                        w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  return high - ((t * (odd + even) - low) - t);
}
SB_FUNCTION SB_UNUSED SB_REAL sb_atan2(SB_REAL b, SB_REAL a) {
  SB_REAL x = sb_fabs(a), y = sb_fabs(b), size = SB_SELECT(x > y, x, y), z = sb_angle(y, x);
  SB_MASK rare = SB_NOT((x <= 1e300) & (y <= 1e300) & (size >= 1e-290));
  z = SB_SELECT(a < 0, 3.14159265358979311600e+00 - (z - 1.22464679914735317720e-16), z);
  z = sb_copysign(z, b);
  SB_RARELY(rare, z, sb_atan2_of_math(rare, b, a, z));
  return z;
}
SB_FUNCTION SB_UNUSED SB_REAL sb_atan(SB_REAL a) {
  SB_REAL size = sb_fabs(a);
  return sb_copysign(sb_angle(SB_SELECT(size > 1e100, SB_OF(1e100), size), SB_OF(1)), a);
}

SB_FUNCTION SB_UNUSED SB_REAL sb_tanh(SB_REAL a) {
  SB_REAL size = sb_fabs(a), e, far, near;
  size = SB_SELECT(size > 22, SB_OF(22), size);
  e = sb_expm1(SB_SELECT(size >= 1, 2.0 * size, -2.0 * size));
  far = 1.0 - 2.0 / (e + 2.0);
  near = -e / (e + 2.0);
  return sb_copysign(SB_SELECT(size >= 1, far, near), a);
}

#endif

#endif
