// The known times at which signals switch: first, first + period, ... The numbers are meant as they
// are written, in decimals, and each time is the double next to the exact sum, as in Python.

const MOST = 1_000_000;

/** A number as digits times a power of ten. */
interface Decimal {
  digits: bigint;
  power: number;
}

/** The decimal that a number is written as; 0 where it is not finite. */
export function decimal(value: number): Decimal {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value));
  if (!found) {
    return { digits: 0n, power: 0 };
  }
  const [, sign, whole, part = "", exponent = "0"] = found;
  return { digits: BigInt(`${sign}${whole}${part}`), power: Number(exponent) - part.length };
}

/** The times of all blocks after start up to end, ascending, each once. edges: first and period of
 * each block. Null if there are too many. */
export function switchTimes(edges: ArrayLike<number>, start: number, end: number): Float64Array | null {
  const found = new Set<number>();
  for (let k = 0; k + 1 < edges.length; k += 2) {
    const [first, period] = [edges[k]!, Math.max(edges[k + 1]!, 0)];
    if (!Number.isFinite(first) || !Number.isFinite(period)) {
      continue;
    }
    if (period > 0 && (end - Math.max(first, start)) / period + found.size > MOST) {
      return null;
    }
    for (const time of series(first, period, start, end)) {
      found.add(time);
    }
  }
  return Float64Array.from(found).sort();
}

function* series(first: number, period: number, start: number, end: number): Generator<number> {
  const [a, b] = [decimal(first), decimal(period)];
  const power = Math.min(a.power, b.power);
  const begin = a.digits * 10n ** BigInt(a.power - power);
  const step = b.digits * 10n ** BigInt(b.power - power);
  let n = step === 0n ? 0n : BigInt(Math.max(0, Math.floor((start - first) / period) - 1));
  for (; ; n++) {
    const time = Number(`${begin + n * step}e${power}`);
    if (time > end) {
      return;
    }
    if (time > start) {
      yield time;
    }
    if (step === 0n) {
      return;
    }
  }
}
