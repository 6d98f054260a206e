// Points of one signal over another.

import type { Column } from "../run/column";
import { valueAt } from "../run/record";

const MOST = 4000; // points

/** A number of a signal over time. Two of one table have the same rows. */
export interface Series {
  table: object;
  t: Float64Array;
  column: Column;
}

/** y over x at the rows of x: all of them, or evenly some, with the last. */
export function pointsOf(x: Series, y: Series, most = MOST): { x: Float64Array; y: Float64Array } {
  const rows = x.t.length;
  const step = Math.max(Math.ceil(rows / most), 1);
  const count = Math.ceil(rows / step) + ((rows - 1) % step === 0 ? 0 : 1);
  const found = { x: new Float64Array(count), y: new Float64Array(count) };
  for (let k = 0; k < count; k++) {
    const row = Math.min(k * step, rows - 1);
    found.x[k] = x.column.values.at(row);
    found.y[k] = x.table === y.table ? y.column.values.at(row) : valueAt(y.t, y.column, x.t[row]!);
  }
  return found;
}

/** The lowest and highest of some numbers, of which NaN is none. */
export function spanOf(...all: readonly ArrayLike<number>[]): [low: number | null, high: number | null] {
  let [low, high] = [Infinity, -Infinity];
  for (const numbers of all) {
    for (let k = 0; k < numbers.length; k++) {
      if (numbers[k]! < low) low = numbers[k]!;
      if (numbers[k]! > high) high = numbers[k]!;
    }
  }
  return low <= high ? [low, high] : [null, null];
}
