// The known times at which signals switch: first, first + period, ... Each is the double next to the
// exact sum, as in program/tracing/switching.py.

import { below, divide, floor, type Fraction, meant, nearest, subtract } from "./exact";

const MOST = 1_000_000;

/** The times of all blocks after start up to end, ascending, each once. edges: first and period of
 * each block; null where they are not finite. Null if there are too many. */
export function switchTimes(edges: readonly (Fraction | null)[], start: number, end: number): Float64Array | null {
  const found = new Set<number>();
  const [from, to] = [meant(start), meant(end)];
  for (let at = 0; at + 1 < edges.length; at += 2) {
    const [first, period] = [edges[at], edges[at + 1]];
    if (!first || !period) {
      continue;
    }
    if (period.n <= 0n) {
      if (below(from, first) && !below(to, first)) {
        found.add(nearest(first));
      }
      continue;
    }
    const before = floor(divide(subtract(from, first), period)!);
    const begin = before < 0n ? 0n : before + 1n;
    const last = floor(divide(subtract(to, first), period)!);
    if (last - begin + BigInt(found.size) > BigInt(MOST)) {
      return null;
    }
    const [origin, step, d] = [first.n * period.d, period.n * first.d, first.d * period.d];
    for (let k = begin; k <= last; k++) {
      found.add(nearest({ n: origin + k * step, d }));
    }
  }
  return Float64Array.from(found).sort();
}
