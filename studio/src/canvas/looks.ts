// How blocks, notes and areas are drawn: what a person changes of it. All of it is in the file.

import { edit, notify, written } from "../actions";
import type { Colour, Facing, Operation, SheetBlock } from "../protocol";
import { now, patch } from "../store";
import { turned } from "./facing";
import { boxesOf } from "./geometry";

export const COLOURS: readonly Colour[] = ["red", "orange", "yellow", "green", "blue", "violet", "grey"];

/** The subsystem of the sheet that edits name; null, which is said, where it cannot be edited. */
export function editable(): string | null {
  const within = now().sheet?.within ?? null;
  if (within === null) notify("This sheet is of another file: open that file to edit it", "fault");
  return within;
}

export function drawing(path: string, value: unknown, within: string): Operation {
  return { op: "draw", path, text: value === null ? null : JSON.stringify(value), within };
}

/** Change an entry of the looks of the selected blocks; what is as by default is not in the file. */
async function changeLooks<T>(entry: string, of: (block: SheetBlock) => T, change: (block: SheetBlock) => T, plain: T): Promise<void> {
  await written(); // what has just been done may not have been answered
  const { sheet, selection } = now();
  const within = sheet && editable();
  if (!sheet || within === null) return;
  const operations = boxesOf(sheet.blocks, selection).flatMap((block): Operation[] => {
    const after = change(block);
    return after === of(block) ? [] : [drawing(`looks.${block.name}.${entry}`, after === plain ? null : after, within)];
  });
  if (operations.length) await edit(...operations);
}

/** Turn the selected blocks clockwise; two quarters flip them. */
export function turnSelected(quarters: number): Promise<void> {
  return changeLooks<Facing>("facing", ({ facing }) => facing, ({ facing }) => turned(facing, quarters), "right");
}

/** Hide the names of the selected blocks, or show them where all are hidden. */
export function toggleNames(): Promise<void> {
  const hidden = (): boolean => boxesOf(now().sheet?.blocks ?? [], now().selection).every(({ named }) => !named);
  return changeLooks("name", ({ named }) => named, hidden, true);
}

/** Give the selected blocks and areas a colour; null is that of their class. */
export async function colourSelected(colour: Colour | null): Promise<void> {
  const within = now().marks.length ? editable() : null;
  const areas = now().marks.flatMap((mark) => {
    const [of, index] = mark.split(" ");
    return of === "area" && within !== null ? [drawing(`areas[${index}].colour`, colour ?? "blue", within)] : [];
  });
  if (areas.length) await edit(...areas);
  if (now().selection.length) await changeLooks<Colour | null>("colour", (block) => block.colour, () => colour, null);
}

/** Begin an area around the selected blocks. */
export function newArea(): void {
  const { selection } = now();
  if (selection.length === 0) return notify("Select the blocks that the area shall lie around");
  if (editable() !== null) patch({ writing: { of: "area", index: null, blocks: [...selection] } });
}
