// Blocks that have been copied, with the wires between them.

import { attempt, edit, notify } from "../actions";
import type { Form, Operation, Point, SheetBlock, SheetWire } from "../protocol";
import { connection, now, patch } from "../store";
import { boundsOf, boxesOf } from "./geometry";
import { freeName } from "./names";

export interface Copied {
  blocks: { name: string; type: string; parameters: Record<string, string>; at: Point }[];
  wires: SheetWire[];
}

// Promised, since what blocks hold is asked of the server: a paste waits for it.
let copied: Promise<Copied | null> = Promise.resolve(null);

/** Take the selected blocks into the clipboard. */
export function copy(): Promise<Copied | null> {
  if (now().selection.length) copied = selected();
  return copied;
}

async function selected(): Promise<Copied | null> {
  const { opened, sheet, selection } = now();
  if (!opened || !sheet) return null;
  const chosen = boxesOf(sheet.blocks, selection).filter(({ look }) => look !== "border");
  const about = { path: opened.path, at: sheet.at };
  const ask = ({ name }: SheetBlock) => connection.ask("form", { ...about, block: name });
  const forms = await attempt(() => Promise.all(chosen.map(ask)));
  if (!forms) return null;
  const inside = new Set(chosen.map(({ name }) => name));
  patch({ said: `${chosen.length} blocks copied` });
  return {
    blocks: chosen.map(({ name, x, y }, k) => ({
      name, type: forms[k]!.type, parameters: parametersOf(forms[k]!), at: [x, y],
    })),
    wires: sheet.wires.filter(({ from, to }) => inside.has(from.block) && inside.has(to.block)),
  };
}

function parametersOf({ fields }: Form): Record<string, string> {
  return Object.fromEntries(fields.flatMap(({ name, text }) => (text === null ? [] : [[name, text]])));
}

export async function paste(from: Promise<Copied | null> = copied): Promise<void> {
  await put(await from);
}

/** Copies of the selected blocks beside them; the clipboard stays. */
export async function duplicate(): Promise<void> {
  await put(await selected());
}

async function put(from: Copied | null): Promise<void> {
  const { sheet } = now();
  if (!from || !sheet) return;
  if (sheet.within === null) return notify("This sheet is of another file: open that file to edit it", "fault");
  const { operations, names } = pasting(from, sheet.blocks, sheet.within);
  if (await edit(...operations)) patch({ selection: names });
}

/** The operations that add copies of blocks beside the blocks of a sheet. */
export function pasting(from: Copied, blocks: readonly SheetBlock[], within: string): { operations: Operation[]; names: string[] } {
  const taken = new Set(blocks.map(({ name }) => name));
  const names = new Map<string, string>();
  for (const { name } of from.blocks) {
    const free = freeName(name, taken);
    taken.add(free);
    names.set(name, free);
  }
  const shift = shiftOf(from, blocks);
  const adds = from.blocks.map(({ name, type, parameters, at }): Operation => ({
    op: "add", name: names.get(name)!, type, parameters, within, place: [at[0] + shift, at[1] + shift],
  }));
  const wires = from.wires.map(({ from: a, to: b, source, target }): Operation => ({
    op: "wire", source: renamed(source, a.block, names), target: renamed(target, b.block, names), within,
  }));
  return { operations: [...adds, ...wires], names: [...names.values()] };
}

/** An end of a wire, "plant.qm[0]", of another block. */
function renamed(end: string, block: string, names: ReadonlyMap<string, string>): string {
  return (names.get(block) ?? block) + end.slice(block.length);
}

// Each further copy lies a step further, so that none covers another.
function shiftOf({ blocks }: Copied, there: readonly SheetBlock[]): number {
  const corner = boundsOf(blocks.map(({ at: [x, y] }) => ({ x, y, width: 0, height: 0 })));
  const covers = (shift: number): boolean =>
    there.some(({ x, y }) => blocks.some(({ at }) => Math.abs(at[0] + shift - x) < 10 && Math.abs(at[1] + shift - y) < 10));
  let shift = 0;
  while (corner && covers(shift) && shift < 2000) shift += 30;
  return shift;
}
