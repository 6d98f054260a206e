// Lines thinned to what pixels can show.

import { rowAt } from "../../../viewer/src/tracks";
import type { Column } from "../run/column";
import { valueAt } from "../run/record";

export type View = readonly [from: number, to: number];

/** The points of a line, time and value in turn; NaN where it breaks. */
export type Points = number[];

/** The points that a line needs at a resolution of `count` columns over a view, from edge to edge:
 * all rows, or of each column the first, the lowest, the highest and the last one. */
export function thinned(t: Float64Array, column: Column, view: View, count: number): Points {
  const points: Points = [];
  const [from, to] = view;
  const wide = (to - from) / count;
  if (t.length === 0 || t[0]! > to || t[t.length - 1]! < from) return points;
  if (t[0]! < from) points.push(from, valueAt(t, column, from));
  const end = rowAt(t, to) + 1;
  for (let row = firstFrom(t, from), cell = -1; row < end; ) {
    cell = Math.max(Math.floor((t[row]! - from) / wide), cell + 1);
    const next = firstFrom(t, from + (cell + 1) * wide, row + 1, end);
    if (next - row <= 4) for (; row < next; row++) points.push(t[row]!, column.values.at(row));
    else put(points, t, column, row, next);
    row = next;
  }
  if (end < t.length) points.push(to, valueAt(t, column, to));
  return points;
}

/** The rows of one column of pixels: lowest and highest in the order in which the line has them. */
function put(points: Points, t: Float64Array, column: Column, row: number, next: number): void {
  const [first, last] = [column.values.at(row), column.values.at(next - 1)];
  const { low, high } = column.extremes(row, next);
  const middle = (t[row]! + t[next - 1]!) / 2;
  points.push(t[row]!, first);
  if (last < first) points.push(middle, high, middle, low);
  else points.push(middle, low, middle, high);
  points.push(t[next - 1]!, last);
}

/** The lowest and highest value of points within a view; null where there is none. */
export function heightOf(points: Points, [from, to]: View): [low: number | null, high: number | null] {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < points.length; at += 2) {
    const [time, value] = [points[at]!, points[at + 1]!];
    if (time < from || time > to) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [null, null];
}

/** Go along points with a pen; NaN lifts it. */
export function trace(points: Points, move: (time: number, value: number) => void, line: (time: number, value: number) => void): void {
  let joined = false;
  for (let at = 0; at < points.length; at += 2) {
    const value = points[at + 1]!;
    const there = !Number.isNaN(value);
    if (there) (joined ? line : move)(points[at]!, value);
    joined = there;
  }
}

/** The first row at or after a time, between two rows. Rows are mostly evenly spaced, so the search
 * widens from its start. */
function firstFrom(t: Float64Array, time: number, low = 0, high = t.length): number {
  for (let step = 1; low + step < high && t[low + step]! < time; step *= 2) low += step;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
