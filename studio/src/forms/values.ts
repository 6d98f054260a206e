// Values of parameters as lists of texts and as cells: what is written in the file, and back.

import { fromYaml, toYaml } from "./yaml";

/** A value in brackets: scalars as they are written. */
export type Value = string | Value[];

/** Read `[1, [2, $k]]`; null where it is not of scalars and lists. */
export function parse(text: string): Value | null {
  const rest = { text, at: 0 };
  const found = valueIn(rest);
  skip(rest);
  return rest.at === text.length ? found : null;
}

interface Rest {
  text: string;
  at: number;
}

function skip(rest: Rest): void {
  while (/\s/.test(rest.text[rest.at] ?? "")) rest.at++;
}

function valueIn(rest: Rest): Value | null {
  skip(rest);
  const { text } = rest;
  if (text[rest.at] !== "[") {
    const scalar = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,[\]{}"'#][^,[\]{}#\n]*)/.exec(text.slice(rest.at))?.[0];
    if (scalar === undefined) return null;
    rest.at += scalar.length;
    return scalar.trim();
  }
  rest.at++;
  const items: Value[] = [];
  for (;;) {
    skip(rest);
    if (text[rest.at] === "]") break;
    const item = valueIn(rest);
    if (item === null) return null;
    items.push(item);
    skip(rest);
    if (text[rest.at] === ",") rest.at++;
    else if (text[rest.at] !== "]") return null;
  }
  rest.at++;
  return items;
}

// --- cells ------------------------------------------------------------------------------------

/** What cells stand for: one number, a list, or rows of lists. */
export type Shape = "scalar" | "list" | "matrix";

export interface Cells {
  shape: Shape;
  rows: string[][];
}

export const MOST_CELLS = 3000;

/** The cells of a value: a list is one column; null where it has none, or too many. */
export function cellsOf(text: string): Cells | null {
  if (text.trim() === "") return { shape: "scalar", rows: [[""]] };
  const value = parse(text);
  if (value === null) return null;
  if (!Array.isArray(value)) return /^["']/.test(value) ? null : { shape: "scalar", rows: [[value]] };
  const isList = value.every((one) => !Array.isArray(one));
  const rows = isList ? value.map((one) => [one as string]) : value;
  if (!rows.every((row) => Array.isArray(row) && row.length === (rows[0] as Value[]).length && row.every((one) => !Array.isArray(one)))) return null;
  const cells = rows as string[][];
  const width = cells[0]?.length ?? 0;
  if (width === 0 || cells.length * width > MOST_CELLS) return null;
  return { shape: isList ? "list" : "matrix", rows: cells };
}

/** Cells as the file has them. */
export function textOfCells({ shape, rows }: Cells): string {
  const isWide = rows.some((row) => row.length > 1);
  if (shape === "matrix" || isWide) return `[${rows.map((row) => `[${row.map(cell).join(", ")}]`).join(", ")}]`;
  return shape === "scalar" && rows.length === 1 ? rows[0]![0]!.trim() : `[${rows.map((row) => cell(row[0]!)).join(", ")}]`;
}

/** An empty cell is no number: the file's checks say which. */
function cell(text: string): string {
  return text.trim() || "null";
}

/** What a spreadsheet or a text has put on the clipboard, as rows; null where it is one cell. */
export function pasted(text: string): string[][] | null {
  const bare = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "");
  const value = /^\s*\[/.test(bare) ? cellsOf(bare) : null;
  if (value) return value.rows;
  const lines = bare.split(/\n|;(?=\s|$)/).map((line) => line.trim()).filter(Boolean);
  const sign = bare.includes("\t") ? "\t" : bare.includes(";") ? /[;\s]+/ : bare.includes(",") ? /\s*,\s*/ : /\s+/;
  const rows = lines.map((line) => line.split(sign).map((one) => one.trim()));
  return rows.length === 1 && rows[0]!.length < 2 ? null : rows;
}

/** Cells with others put at a place; they grow where these do not fit. */
export function put(rows: readonly (readonly string[])[], others: readonly (readonly string[])[], row: number, column: number): string[][] {
  const width = Math.max(...rows.map((one) => one.length), column + Math.max(...others.map((one) => one.length)));
  const height = Math.max(rows.length, row + others.length);
  return Array.from({ length: height }, (_, i) =>
    Array.from({ length: width }, (_, j) => others[i - row]?.[j - column] ?? rows[i]?.[j] ?? ""));
}

// --- lines ------------------------------------------------------------------------------------

/** The texts of a text or of a list of texts; null where it is neither. */
export function linesOf(text: string): string[] | null {
  if (text.trim() === "") return [];
  const value = parse(text);
  if (value === null) return null;
  if (!Array.isArray(value)) return [fromYaml(value)];
  return value.every((one) => typeof one === "string") ? value.map(fromYaml) : null;
}

/** Lines as the file has them: one stays a text unless it was a list. A line that begins with a space
 * goes on with the one before. */
export function textOfLines(typed: string, isList: boolean): string {
  const lines: string[] = [];
  for (const line of typed.split("\n")) {
    if (/^\s/.test(line) && lines.length && line.trim()) lines.push(`${lines.pop()!} ${line.trim()}`);
    else if (line.trim()) lines.push(line.trim());
  }
  if (lines.length === 0) return "";
  if (lines.length === 1 && !isList) return toYaml(lines[0]!);
  return `[${lines.map(toYaml).join(", ")}]`;
}

// --- curves -----------------------------------------------------------------------------------

/** Rounded so that steps of a hundredth of the range are exact. */
export function rounded(value: number, range: number): number {
  const digits = Math.max(0, Math.min(12, 2 - Math.floor(Math.log10(Math.abs(range) || 1))));
  return Number(value.toFixed(digits));
}

/** The corners of the line through points, as the block interpolates between them. */
export function curve(points: readonly (readonly [number, number])[], interpolation: string): [number, number][] {
  const found: [number, number][] = [];
  points.forEach(([x, y], k) => {
    const before = points[k - 1];
    if (before && interpolation === "previous") found.push([x, before[1]]);
    if (before && interpolation === "nearest") found.push([(before[0] + x) / 2, before[1]], [(before[0] + x) / 2, y]);
    found.push([x, y]);
  });
  return found;
}
