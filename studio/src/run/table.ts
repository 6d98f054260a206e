// Rows of signals at ascending times, and how many of them are kept.

import { Column } from "./column";
import { Growing } from "./growing";

export interface Table {
  t: Growing;
  /** By signal, one column per number of it. */
  columns: Map<string, Column[]>;
  /** Whether rows were left out. */
  thinned: boolean;
  /** The first so many rows stand for `factor` times as many. */
  coarse: number;
  factor: number;
}

export function newTable(): Table {
  return { t: new Growing(), columns: new Map(), thinned: false, coarse: 0, factor: 1 };
}

const MOST = 4_000_000; // numbers: 32 MB

/** The table with less rows, if it has too many: the newer ones are made as few as the older ones
 * are, and where that is not enough, all of them are halved. */
export function bounded(table: Table, most = MOST): Table {
  const width = 1 + [...table.columns.values()].reduce((sum, columns) => sum + columns.length, 0);
  if (table.t.length * width <= most) return table;
  let next = table.factor > 1 ? thinned(table, table.coarse, 2 * table.factor) : table;
  if (next.t.length * width > 0.75 * most) next = { ...thinned(next, 0, 4), factor: 2 * next.factor };
  return { ...next, thinned: true, coarse: next.t.length };
}

/** Of each group of rows from `first` on two are left, with the extremes of the group: the first
 * of them with its beginning, in the order in which a line that only rises or falls has them. */
function thinned(table: Table, first: number, group: number): Table {
  const count = table.t.length;
  const t = new Growing();
  for (let row = 0; row < first; row++) t.push(table.t.at(row));
  for (let row = first; row < count; row += group) {
    t.push(table.t.at(row));
    t.push(table.t.at(Math.min(row + group, count) - 1));
  }
  const one = (column: Column): Column => {
    const next = new Column();
    for (let row = 0; row < first; row++) next.push(column.values.at(row));
    for (let row = first; row < count; row += group) {
      const { low, high } = column.extremes(row, row + group);
      const falls = column.values.at(Math.min(row + group, count) - 1) < column.values.at(row);
      next.push(falls ? high : low);
      next.push(falls ? low : high);
    }
    return next;
  };
  const columns = new Map([...table.columns].map(([name, all]) => [name, all.map(one)]));
  return { ...table, t, columns };
}
