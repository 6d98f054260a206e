// Notes and areas: writing, moving and removing them.

import { edit } from "../actions";
import type { Operation, Point, Sheet, SheetNote } from "../protocol";
import { now, patch, type Writing } from "../store";
import { anchored, areaBoxes, noteBox } from "./annotations";
import type { Box } from "./geometry";
import { drawing, editable } from "./looks";

/** Write what was typed of a note or of the title of an area. A note without text goes. */
export async function write({ of, index, at, blocks }: Writing, text: string): Promise<void> {
  patch({ writing: null });
  const { sheet } = now();
  const within = sheet && editable();
  if (!sheet || within === null) return;
  if (of === "area") {
    if (index === null) await edit(drawing("areas", { title: text.trim(), blocks }, within));
    else if (sheet.areas.find((area) => area.index === index)?.title !== text.trim()) await edit(drawing(`areas[${index}].title`, text.trim(), within));
    return;
  }
  if (index !== null) {
    if (!text.trim()) await edit(drawing(`notes[${index}]`, null, within));
    else if (sheet.notes.find((note) => note.index === index)?.text !== text) await edit(drawing(`notes[${index}].text`, text, within));
  } else if (text.trim()) {
    const [x, y] = at ?? [0, 0];
    await edit(drawing("notes", { text, ...placed(noteBox({ x, y, text }), sheet) }, within));
  }
}

function placed(box: Box, sheet: Sheet): { at: Point; by?: string } {
  const { at, by } = anchored(box, sheet.blocks);
  return by === null ? { at } : { at, by };
}

/** The operation after which a note lies elsewhere. */
export function noteMoved(note: SheetNote, [dx, dy]: Point, sheet: Sheet, within: string): Operation[] {
  const there = placed(noteBox({ ...note, x: note.x + dx, y: note.y + dy }), sheet);
  const path = `notes[${note.index}]`;
  if ((there.by ?? null) === note.by) return [drawing(`${path}.at`, there.at, within)];
  return [drawing(path, { text: note.text, ...there }, within)];
}

/** The notes that lie on an area without belonging to a block. */
export function notesOn(index: number, sheet: Sheet): SheetNote[] {
  const area = areaBoxes(sheet).find((one) => one.index === index);
  if (!area) return [];
  return sheet.notes.filter((note) => {
    const { x, y, width, height } = noteBox(note);
    return note.by === null && x >= area.x && y >= area.y && x + width <= area.x + area.width && y + height <= area.y + area.height;
  });
}

/** The operations that remove the selected notes and areas: the last ones first, as they are numbered. */
export function removalOf(marks: readonly string[], within: string): Operation[] {
  const numbered = marks.map((mark) => [mark.split(" ")[0]!, Number(mark.split(" ")[1])] as const);
  return [...numbered].sort((a, b) => b[1] - a[1]).map(([of, index]) => drawing(`${of}s[${index}]`, null, within));
}

/** The operations that let notes stay where they are when the blocks that they are beside go. */
export function left(names: ReadonlySet<string>, sheet: Sheet, within: string): Operation[] {
  return sheet.notes.filter(({ by }) => by !== null && names.has(by))
    .map(({ index, text, x, y }) => drawing(`notes[${index}]`, { text, at: [Math.round(x), Math.round(y)] }, within));
}

// --- moving -----------------------------------------------------------------------------------------

/** How far notes and areas are from their places, while they are moved. */
let shifts: ReadonlyMap<string, Point> = new Map();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** Operations that go with the blocks that are put down next. */
let along: Operation[] = [];

export function hearShifts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function shiftOf(mark: string): Point | undefined {
  return shifts.get(mark);
}

export function restShifts(): void {
  if (shifts.size === 0) return;
  shifts = new Map();
  for (const listener of listeners) listener();
}

export function takeAlong(): Operation[] {
  const operations = along;
  along = [];
  return operations;
}

type Nudge = (dx: number, dy: number, names?: readonly string[]) => void;
const SETTLED = 350; // less than that of blocks, so that what goes along is there

/** Move notes, and areas with all that lies in them, and write it when they rest. */
export function moveMarks(marks: readonly string[], dx: number, dy: number, nudge: Nudge): void {
  const { sheet } = now();
  if (!sheet || sheet.within === null) return;
  const { within } = sheet;
  const areas = sheet.areas.filter(({ index }) => marks.includes(`area ${index}`));
  const blocks = [...new Set(areas.flatMap((area) => area.blocks))];
  const notes = new Set([...marks, ...areas.flatMap(({ index }) => notesOn(index, sheet).map((note) => `note ${note.index}`))]);
  const next = new Map(shifts);
  for (const mark of [...notes, ...sheet.notes.flatMap(({ by, index }) => (by && blocks.includes(by) ? [`note ${index}`] : []))]) {
    const [x, y] = next.get(mark) ?? [0, 0];
    next.set(mark, [x + dx, y + dy]);
  }
  shifts = next;
  for (const listener of listeners) listener();
  if (blocks.length) nudge(dx, dy, blocks);
  clearTimeout(timer);
  timer = setTimeout(() => {
    const operations = sheet.notes.flatMap((note) => {
      const shift = shifts.get(`note ${note.index}`);
      if (!shift || (note.by !== null && blocks.includes(note.by))) return [];
      // With its area it stays by no block.
      return blocks.length ? [drawing(`notes[${note.index}].at`, [Math.round(note.x + shift[0]), Math.round(note.y + shift[1])], within)]
        : noteMoved(note, shift, sheet, within);
    });
    if (blocks.length) along = operations;
    else if (operations.length) void edit(...operations).then((done) => done ?? restShifts());
  }, SETTLED);
}
