// Exact fractions, of numbers as a file means them: the arithmetic of program/exact_values.py.

/** n / d in lowest terms; d is above zero. */
export interface Fraction {
  n: bigint;
  d: bigint;
}

/** An instruction of a function of p: operation, inputs, outputs, and a constant, null where it is
 * not finite. */
export type Step = [operation: string, inputs: number[], outputs: number[], constant: number | null];

/** Largest denominator of a fraction that a number is taken to mean. */
const MOST_PARTS = 1_000_000n;
const EXACT = 1n << 53n;

const size = (value: bigint): bigint => (value < 0n ? -value : value);
const bits = (value: bigint): number => 4 * size(value).toString(16).length;
const whole = (n: bigint): Fraction => ({ n, d: 1n });
const truth = (holds: boolean): Fraction => whole(holds ? 1n : 0n);

function greatestDivisor(a: bigint, b: bigint): bigint {
  while (b) {
    [a, b] = [b, a % b];
  }
  return size(a);
}

/** n / d; null if d is zero. */
function fraction(n: bigint, d: bigint): Fraction | null {
  if (d === 0n) {
    return null;
  }
  const common = greatestDivisor(n, d) * (d < 0n ? -1n : 1n);
  return { n: n / common, d: d / common };
}

/** The greatest whole number that is not above a fraction. */
export function floor({ n, d }: Fraction): bigint {
  const cut = n / d;
  return cut * d > n ? cut - 1n : cut;
}

const add = (a: Fraction, b: Fraction): Fraction => fraction(a.n * b.d + b.n * a.d, a.d * b.d)!;
export const subtract = (a: Fraction, b: Fraction): Fraction => add(a, { n: -b.n, d: b.d });
const multiply = (a: Fraction, b: Fraction): Fraction => fraction(a.n * b.n, a.d * b.d)!;
export const divide = (a: Fraction, b: Fraction): Fraction | null => fraction(a.n * b.d, a.d * b.n);
const sign = (a: Fraction, b: Fraction): bigint => a.n * b.d - b.n * a.d;
export const below = (a: Fraction, b: Fraction): boolean => sign(a, b) < 0n;

/** The double next to a fraction. */
export function nearest({ n, d }: Fraction): number {
  if (size(n) < EXACT && d < EXACT) {
    return Number(n) / Number(d);
  }
  const shift = 66 + bits(d) - bits(n); // so many digits that Number rounds only once
  const [above, under] = shift > 0 ? [size(n) << BigInt(shift), d] : [size(n), d << BigInt(-shift)];
  const quotient = above / under;
  const rest = quotient * under === above ? 0n : 1n;
  return Number(quotient | rest) * 2 ** -shift * (n < 0n ? -1 : 1);
}

/** The number that a finite double means: a simple fraction to which it is next, such as 1/300;
 * otherwise the decimal number as written. */
export function meant(value: number): Fraction {
  const [, digits, part = "", exponent = "0"] = /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value))!;
  const power = BigInt(Number(exponent) - part.length);
  const n = BigInt(digits + part);
  const written = power < 0n ? fraction(n, 10n ** -power)! : whole(n * 10n ** power);
  const simple = simplest(written);
  return nearest(simple) === value ? simple : written;
}

/** The fraction with no more than MOST_PARTS parts that is closest to another: by its continued
 * fraction. */
function simplest(given: Fraction): Fraction {
  if (given.d <= MOST_PARTS) {
    return given;
  }
  let [p0, q0, p1, q1] = [0n, 1n, 1n, 0n];
  let { n, d } = given;
  for (;;) {
    const a = floor({ n, d });
    if (q0 + a * q1 > MOST_PARTS) break;
    [p0, q0, p1, q1] = [p1, q1, p0 + a * p1, q0 + a * q1];
    [n, d] = [d, n - a * d];
  }
  const k = (MOST_PARTS - q0) / q1;
  const found = 2n * d * (q0 + k * q1) <= given.d ? [p1, q1] : [p0 + k * p1, q0 + k * q1];
  return fraction(found[0]!, found[1]!)!;
}

const OPERATIONS: Record<string, (a: Fraction, b: Fraction) => Fraction | null> = {
  assign: (a) => a,
  add,
  sub: subtract,
  mul: multiply,
  div: divide,
  neg: (a) => ({ n: -a.n, d: a.d }),
  inv: (a) => fraction(a.d, a.n),
  sq: (a) => multiply(a, a),
  twice: (a) => add(a, a),
  fabs: (a) => ({ n: size(a.n), d: a.d }),
  floor: (a) => whole(floor(a)),
  ceil: (a) => whole(-floor({ n: -a.n, d: a.d })),
  fmin: (a, b) => (below(b, a) ? b : a),
  fmax: (a, b) => (below(a, b) ? b : a),
  fmod: (a, b) => (b.n ? subtract(a, multiply(b, whole((a.n * b.d) / (a.d * b.n)))) : null),
  sign: (a) => whole(a.n > 0n ? 1n : a.n < 0n ? -1n : 0n),
  lt: (a, b) => truth(below(a, b)),
  le: (a, b) => truth(!below(b, a)),
  eq: (a, b) => truth(sign(a, b) === 0n),
  ne: (a, b) => truth(sign(a, b) !== 0n),
  not: (a) => truth(a.n === 0n),
  and: (a, b) => truth(a.n !== 0n && b.n !== 0n),
  or: (a, b) => truth(a.n !== 0n || b.n !== 0n),
  if_else_zero: (a, b) => (a.n ? b : a),
};

/** The values of a function of p, exactly. rounded: the same in doubles, which count if any of them
 * is not rational. Null for one that is not finite. */
export function exactValues(steps: readonly Step[], p: ArrayLike<number>, rounded: ArrayLike<number>): (Fraction | null)[] {
  const taken = (value: number | null): Fraction | null => (value !== null && Number.isFinite(value) ? meant(value) : null);
  const work = new Map<number, Fraction | null>();
  const found = new Map<number, Fraction | null>();
  for (const [operation, inputs, outputs, constant] of steps) {
    if (operation === "output") {
      found.set(outputs[1]!, work.get(inputs[0]!)!);
    } else if (operation === "input") {
      work.set(outputs[0]!, taken(p[inputs[1]!]!));
    } else if (operation === "const") {
      work.set(outputs[0]!, taken(constant));
    } else {
      const values = inputs.map((at) => work.get(at)!);
      work.set(outputs[0]!, applied(operation, values));
    }
  }
  const followed = Array.from(rounded, (_, k) => {
    const value = found.get(k);
    return value === undefined ? whole(0n) : value;
  });
  return followed.includes(null) ? Array.from(rounded, (near, k) => followed[k] ?? taken(near)) : followed;
}

function applied(operation: string, values: readonly (Fraction | null)[]): Fraction | null {
  const [a, b] = values;
  if (!a || (operation === "if_else_zero" && a.n === 0n)) {
    return a ?? null;
  }
  return values.includes(null) ? null : (OPERATIONS[operation]?.(a, b!) ?? null);
}
