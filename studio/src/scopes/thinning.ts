// Lines thinned to what pixels can show. All lines of a plot get the same times: the edges of its
// view, and two in each of its columns, where a line has its lowest and its highest value.

import { rowAt } from "../../../viewer/src/tracks";
import type { Column } from "../run/column";
import { valueAt } from "../run/record";

export type View = readonly [from: number, to: number];
/** A value; null where there is none; undefined where a line goes straight on. */
export type Point = number | null | undefined;

/** The times at which a plot of `count` columns has points. */
export function timesOf([from, to]: View, count: number): number[] {
  const wide = (to - from) / count;
  const times = [from];
  for (let cell = 0; cell < count; cell++) times.push(from + (cell + 0.25) * wide, from + (cell + 0.75) * wide);
  times.push(to);
  return times;
}

/** The points of a line at those times. */
export function thinned(t: Float64Array, column: Column, view: View, count: number): Point[] {
  const points: Point[] = new Array<Point>(2 * count + 2).fill(undefined);
  const [from, to] = view;
  if (t.length === 0 || t[0]! > to || t[t.length - 1]! < from) return points;
  const wide = (to - from) / count;
  points[0] = t[0]! <= from ? number(valueAt(t, column, from)) : undefined;
  points[2 * count + 1] = t[t.length - 1]! >= to ? number(valueAt(t, column, to)) : undefined;
  const last = rowAt(t, to);
  for (let row = firstFrom(t, from), cell = -1; row <= last; ) {
    cell = Math.min(Math.max(Math.floor((t[row]! - from) / wide), cell + 1), count - 1);
    const next = cell === count - 1 ? last + 1 : firstFrom(t, from + (cell + 1) * wide, row + 1, last + 1);
    put(points, 1 + 2 * cell, column, row, next);
    row = next;
  }
  return points;
}

/** The rows of one column of pixels: lowest and highest in the order in which the line has them. */
function put(points: Point[], at: number, column: Column, row: number, next: number): void {
  if (next === row + 1) {
    points[at] = number(column.values.at(row));
    return;
  }
  const { low, high } = column.extremes(row, next);
  const falls = column.values.at(next - 1) < column.values.at(row);
  points[at] = number(falls ? high : low);
  points[at + 1] = number(falls ? low : high);
}

function number(value: number): Point {
  return Number.isNaN(value) ? null : value;
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
