// What the page knows of a run's signals: tables of rows at ascending times. What is told as the
// run goes on is one table; what is asked for afterwards are others, which take its place.

import { rowAt } from "../../../viewer/src/tracks";
import type { Rows } from "../protocol";
import type { View } from "../scopes/thinning";
import { bounded, type Table, newTable } from "./table";
import { Column } from "./column";

/** Rows that a message brings. */
export interface Told {
  header: Pick<Rows, "signals" | "rows" | "thinned">;
  numbers: Float64Array;
}

const COARSE = 6; // times as long as what is shown

export class RunRecord {
  /** Changes with each change of what is here. */
  version = 0;
  private live = newTable();
  private readonly found = new Map<string, Table>();
  /** A part of the time, finer than the others have it. */
  private part: { table: Table; view: View } | null = null;

  /** most: numbers of rows that are told, beyond which older ones are thinned. */
  constructor(private readonly most?: number) {}

  /** Rows of a run that goes on. Those that are here already are left out. */
  append(told: Told): void {
    addTo(this.live, told);
    this.live = bounded(this.live, this.most);
    this.version++;
  }

  /** Rows of a part of the time that were asked for. */
  refine(told: Told, view: View): void {
    this.part = { table: tableWith(told), view };
    this.version++;
  }

  /** Whether a view of a signal needs rows that are not here. */
  lacks(name: string, [from, to]: View): boolean {
    if (!this.tableOf(name)?.thinned) return false;
    const part = this.partOf(name, [from, to]);
    return !part || (part.table.thinned && part.view[1] - part.view[0] > COARSE * (to - from));
  }

  /** Rows that were asked for: all that there were until they were sent. */
  replace(told: Told): void {
    const table = tableWith(told);
    for (const { name } of told.header.signals) {
      const before = this.tableOf(name);
      if (before && before.t.last() > table.t.last()) continue; // more has been told meanwhile
      this.found.set(name, table);
    }
    this.version++;
  }

  /** Forget all rows: a loop is watched anew. */
  clear(): void {
    this.live = newTable();
    this.found.clear();
    this.part = null;
    this.version++;
  }

  /** Whether there are rows of a signal. */
  has(name: string): boolean {
    return this.tableOf(name) !== undefined;
  }

  /** The rows of a signal, the finest that there are of a view. */
  tableOf(name: string, view?: View): Table | undefined {
    const part = view && this.partOf(name, view);
    return part?.table ?? this.found.get(name) ?? (this.live.columns.has(name) ? this.live : undefined);
  }

  private partOf(name: string, [from, to]: View): typeof this.part {
    const { part } = this;
    return part && part.table.columns.has(name) && part.view[0] <= from && to <= part.view[1] ? part : null;
  }

  /** The last time of any table; NaN without rows. */
  end(): number {
    let end = this.live.t.last();
    for (const { t } of this.found.values()) end = t.last() > end || Number.isNaN(end) ? t.last() : end;
    return end;
  }

  /** The numbers of a signal at a time, linear between rows; none where there are no rows. */
  at(name: string, time: number): number[] {
    const table = this.tableOf(name, [time, time]);
    return table ? table.columns.get(name)!.map((column) => valueAt(table.t.view(), column, time)) : [];
  }
}

/** A value between rows; at a jump that of the later row; held at both ends. */
export function valueAt(t: Float64Array, { values }: Column, time: number): number {
  const row = Math.max(rowAt(t, time), 0);
  const value = values.at(row);
  if (row + 1 >= t.length || time <= t[row]!) return value;
  return value + ((time - t[row]!) / (t[row + 1]! - t[row]!)) * (values.at(row + 1) - value);
}

function tableWith(told: Told): Table {
  const table = newTable();
  addTo(table, told);
  table.thinned = told.header.thinned ?? false;
  return table;
}

function addTo(table: Table, { header, numbers }: Told): void {
  const columns = header.signals.map(({ name, width }) => columnsOf(table, name, width));
  const all = columns.flat();
  const absent = [...table.columns.values()].flat().filter((column) => !all.includes(column));
  const stride = 1 + all.length;
  for (let row = 0; row < header.rows; row++) {
    const at = row * stride;
    if (numbers[at]! < table.t.last()) continue;
    table.t.push(numbers[at]!);
    all.forEach((column, k) => column.push(numbers[at + 1 + k]!));
    absent.forEach((column) => column.push(NaN));
  }
}

/** The columns of a signal; new ones have nothing at the times before. */
function columnsOf(table: Table, name: string, width: number): Column[] {
  let columns = table.columns.get(name);
  if (!columns) {
    columns = Array.from({ length: width }, () => new Column());
    columns.forEach((column) => column.pad(table.t.length));
    table.columns.set(name, columns);
  }
  return columns;
}
