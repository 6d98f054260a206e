// Places in the text of a diagram: the path at a position, the lines of a path, and what can be
// written where the caret is. Lines are read as they stand, so that it works while a text is wrong.

export type Path = readonly (string | number)[];

/** A text by lines, as an editor's document has them; the first has the number 1. */
export interface Lines {
  lines: number;
  line(number: number): { text: string; from: number; number: number };
  lineAt(position: number): { text: string; from: number; number: number };
}

/** What a line begins with: items of lists and a key, each at its column. */
interface Mark {
  column: number;
  /** null for an item. */
  key: string | null;
  /** Where its value begins. */
  after: number;
}

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^\s#"'{}[\],&*!|>%@`-]|-(?! ))[^:#]*?)\s*:(?=\s|$)/;

function marksOf(text: string): Mark[] {
  const found: Mark[] = [];
  let at = text.length - text.trimStart().length;
  while (text[at] === "-" && (at + 1 === text.length || text[at + 1] === " ")) {
    const column = at++;
    while (text[at] === " ") at++;
    found.push({ column, key: null, after: at });
  }
  const key = KEY.exec(text.slice(at));
  if (key) found.push({ column: at, key: plain(key[1]!), after: at + key[0].length });
  return found;
}

function plain(text: string): string {
  const quote = text[0];
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1) : text.trim();
}

function isEmpty(text: string): boolean {
  return /^\s*(#|$)/.test(text);
}

// --- the path at a position ------------------------------------------------------------------

/** The keys and items around a line, from its own marks outwards; and the lines of those around. */
function above(lines: Lines, number: number, marks: readonly Mark[], column: number): { path: (string | number)[]; holders: number[] } {
  const path: (string | number)[] = [];
  const holders: number[] = [];
  let [least, item] = [column, -1]; // item: the column of the list whose items are counted
  const take = (mark: Mark, line: number): void => {
    if (mark.column === item && mark.key === null) {
      path[0] = (path[0] as number) + 1;
      return;
    }
    if (mark.column > least || (mark.column === least && (item !== least || mark.key === null))) return;
    path.unshift(mark.key ?? 0);
    if (line !== number) holders.push(line);
    least = mark.column;
    item = mark.key === null ? mark.column : -1;
  };
  least = marks.length ? marks.at(-1)!.column + 1 : column;
  for (const mark of [...marks].reverse()) take(mark, number);
  for (let k = number - 1; k > 0 && (least > 0 || item === 0); k--) {
    const { text } = lines.line(k);
    if (isEmpty(text)) continue;
    for (const mark of marksOf(text).reverse()) take(mark, k);
  }
  return { path, holders };
}

/** The path of the entry at a position: ["blocks", "gain", "K"]. */
export function pathAt(lines: Lines, position: number): Path {
  const { frames, path } = contextIn(lines, position);
  return [...path, ...frames.flatMap(({ step }) => (step === null ? [] : [step]))];
}

/** A bracket around a position. */
interface Frame {
  open: string;
  /** The key or the number of the entry at the position; null where a key is written. */
  step: string | number | null;
  given: Record<string, string>;
}

const MOST_LINES = 200;

function contextIn(lines: Lines, position: number): { path: (string | number)[]; holders: number[]; frames: Frame[]; marks: Mark[]; column: number } {
  const line = lines.lineAt(position);
  const column = position - line.from;
  const before = marksOf(line.text).filter((mark) => mark.after <= column || (mark.key !== null && mark.column < column));
  const indent = line.text.slice(0, column).search(/\S|$/);
  const { path, holders } = above(lines, line.number, before, indent);
  for (const start of [line.number, ...holders]) {
    if (line.number - start > MOST_LINES) break;
    const frames = framesAt(lines, start, position);
    if (frames.length === 0) continue;
    const own = marksOf(lines.line(start).text);
    const around = above(lines, start, own, own[0]?.column ?? 0);
    return { ...around, frames, marks: own, column };
  }
  return { path, holders, frames: [], marks: before, column };
}

/** The brackets that are open at a position, read from the beginning of a line. */
function framesAt(lines: Lines, start: number, position: number): Frame[] {
  const stack: Reading[] = [];
  let found: { frame: Frame; step: Frame["step"] }[] | null = null;
  const begin = marksOf(lines.line(start).text).at(-1)?.after ?? 0;
  for (let number = start; number <= lines.lines && number < start + 2 * MOST_LINES; number++) {
    const { text, from } = lines.line(number);
    let at = number === start ? begin : 0;
    for (; at <= text.length; at++) {
      if (found === null && from + at >= position) {
        found = stack.map((frame) => ({ frame, step: frame.open === "[" ? frame.count : frame.key }));
        if (found.length === 0) return [];
      }
      const top = stack.at(-1);
      const char = text[at] ?? "\n";
      if (char === "#" && (at === 0 || text[at - 1] === " ")) {
        if (found === null && position <= from + text.length) return [];
        break;
      }
      if (!top) {
        if (char === "{" || char === "[") stack.push(frameOf(char));
        else if (/\S/.test(char)) return []; // a scalar, in which brackets are letters
        continue;
      }
      if (char === '"' || char === "'") {
        const end = endOfQuoted(text, at);
        top.word += text.slice(at, end);
        if (found === null && position > from + at && position < from + end) {
          found = stack.map((frame) => ({ frame, step: frame.open === "[" ? frame.count : frame.key }));
        }
        at = end - 1;
      } else if (char === "{" || char === "[") stack.push(frameOf(char));
      else if (char === "}" || char === "]") {
        give(top);
        stack.pop();
        const rest = stack.at(-1);
        if (rest) rest.word += "…";
        else if (found) return answer(found);
      } else if (char === ",") {
        give(top);
        top.count++;
      } else if (char === ":" && top.open === "{" && top.key === null && /^[\s,}\]]|^$/.test(text.slice(at + 1, at + 2))) {
        top.key = plain(top.word);
        top.word = "";
      } else top.word += char;
    }
    if (found && stack.length === 0) break;
  }
  return found ? answer(found) : [];
}

function answer(found: readonly { frame: Frame; step: Frame["step"] }[]): Frame[] {
  return found.map(({ frame, step }) => ({ open: frame.open, step, given: frame.given }));
}

interface Reading extends Frame {
  word: string;
  key: string | null;
  count: number;
}

function frameOf(open: string): Reading {
  return { open, step: null, given: {}, word: "", key: null, count: 0 };
}

function give(frame: Reading): void {
  if (frame.key !== null) frame.given[frame.key] = plain(frame.word.trim());
  frame.key = null;
  frame.word = "";
}

function endOfQuoted(text: string, at: number): number {
  const quote = text[at];
  let end = at + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === "\\" && quote === '"' ? 2 : 1;
  return Math.min(end + 1, text.length);
}

// --- what can be written --------------------------------------------------------------------

export interface Writing {
  /** A key of the mapping at `path`, the value at `path`, or, after a dash, either. */
  kind: "key" | "value" | "item";
  path: Path;
  /** What is typed of it, and where that begins. */
  typed: string;
  from: number;
  /** The entries beside it. */
  given: Record<string, string>;
  /** In brackets, where a line break ends nothing. */
  flow: boolean;
  /** Of a wire: whether it is an end, behind the arrow. */
  isTarget: boolean;
}

const WORD = /[\w.$/*-]*$/;
/** A word of a wire: its dashes are of the arrow. */
const END = /[\w./*]*$/;

/** What is being written at a position; null where nothing can be completed, as in a comment. */
export function writingAt(lines: Lines, position: number): Writing | null {
  const line = lines.lineAt(position);
  const text = line.text.slice(0, position - line.from);
  if (/(^|\s)#/.test(text.replace(/"[^"]*"|'[^']*'/g, ""))) return null;
  const { path, frames, marks } = contextIn(lines, position);
  const isWire = path.includes("wires");
  const typed = (isWire ? END : WORD).exec(text)![0];
  const about = { typed, from: position - typed.length, isTarget: isWire && text.includes("->"), flow: frames.length > 0 };
  const top = frames.at(-1);
  if (top) {
    const steps = frames.slice(0, -1).map(({ step }) => step ?? "");
    const isKey = top.open === "{" && top.step === null;
    return { ...about, kind: isKey ? "key" : "value", path: [...path, ...steps, ...(isKey ? [] : [top.step!])], given: top.given };
  }
  const last = marks.at(-1);
  const written = last?.key != null && text.length >= last.after;
  if (written) {
    if (text.length === last.after) return null; // right behind the colon
    return { ...about, kind: "value", path, given: beside(lines, line.number, last.column) };
  }
  if (last?.key != null) path.pop(); // in the key itself
  const dash = marks.filter(({ key }) => key === null).at(-1);
  const column = text.length - typed.length;
  if (typed.length === 0 && text.trim() !== "" && !dash) return null;
  if (!isWire && !dash && text.trim() !== typed) return null;
  return { ...about, kind: dash ? "item" : "key", path, given: beside(lines, line.number, column) };
}

/** The entries of the block mapping that a line is of, by the column of its keys. */
function beside(lines: Lines, number: number, column: number): Record<string, string> {
  const found: Record<string, string> = {};
  for (const way of [-1, 1]) {
    for (let k = way < 0 ? number - 1 : number + 1; k > 0 && k <= lines.lines && Math.abs(k - number) < MOST_LINES; k += way) {
      const { text } = lines.line(k);
      if (isEmpty(text)) continue;
      const marks = marksOf(text);
      const key = marks.at(-1);
      if (key?.key != null && key.column === column) found[key.key] = plain(text.slice(key.after).replace(/\s#.*$/, "").trim());
      if (text.search(/\S/) < column) break;
    }
  }
  return found;
}

// --- the lines of a path --------------------------------------------------------------------

export interface Range {
  /** Numbers of the first and the last line. */
  first: number;
  last: number;
  /** The column at which its key begins. */
  column: number;
  /** Whether all of the path was found in lines of its own, and not in brackets. */
  whole: boolean;
}

/** The lines of the entry at a path, or of the nearest one around it that has lines of its own; null
 * where not even the section is there. */
export function rangeOf(lines: Lines, path: Path): Range | null {
  let found: Range | null = null;
  let [first, last, least] = [1, lines.lines, -1];
  for (const step of path) {
    const inner = childIn(lines, first, last, least, step);
    if (!inner) return found && { ...found, whole: false };
    found = inner;
    [first, last, least] = [inner.first + 1, inner.last, inner.column];
    if (typeof step === "number") first = inner.first; // its first key is on the line of the dash
  }
  return found;
}

function childIn(lines: Lines, first: number, last: number, least: number, step: string | number): Range | null {
  let column = -1;
  let count = -1;
  let found: Range | null = null;
  for (let k = first; k <= last; k++) {
    const { text } = lines.line(k);
    if (isEmpty(text)) continue;
    const marks = marksOf(text).filter((mark) => mark.column > least || (mark.key === null && mark.column === least));
    if (column < 0) {
      const own = typeof step === "number" ? marks.find(({ key }) => key === null) : marks.find(({ key }) => key !== null);
      if (!own) return null;
      column = own.column;
    }
    const indent = text.search(/\S/);
    const mark = marks.find((one) => one.column === column && (typeof step === "number") === (one.key === null));
    if (found && (mark || indent < column || (indent === column && !text.slice(indent).startsWith("-")))) break;
    if (mark) {
      count++;
      if (mark.key === step || (typeof step === "number" && count === step)) found = { first: k, last: k, column, whole: true };
    }
    if (found) found.last = k;
  }
  return found;
}
