// What keys and buttons do with the selection.

import { edit, place } from "../actions";
import type { Operation } from "../protocol";
import { now, patch } from "../store";
import type { Alignment } from "./align";
import { boxesOf, wireKey } from "./geometry";
import { asKind, type Kind } from "./kinds";
import { editable } from "./looks";
import { left, removalOf } from "./marks";

/** Take the selected blocks and wires away. */
export async function removeSelected(): Promise<void> {
  const { sheet, selection, wires, marks } = now();
  if (!sheet || selection.length + wires.length + marks.length === 0) return;
  const within = editable();
  if (within === null) return;
  const gone = new Set(selection);
  const cut = sheet.wires
    .filter((wire) => wires.includes(wireKey(wire)) && !gone.has(wire.from.block) && !gone.has(wire.to.block))
    .map(({ source, target }): Operation => ({ op: "unwire", source, target, within }));
  const blocks: Operation[] = selection.length ? [{ op: "remove", names: [...selection], within }] : [];
  const notes = left(gone, { ...sheet, notes: sheet.notes.filter(({ index }) => !marks.includes(`note ${index}`)) }, within);
  if (await edit(...notes, ...cut, ...removalOf(marks, within), ...blocks)) patch({ selection: [], wires: [], marks: [] });
}

/** Put the focus into the form of the selected block, at the first field that needs a value. */
export function fillForm(): void {
  patch({ filling: "", fresh: null });
}

export async function alignSelected(how: Alignment): Promise<void> {
  const { sheet, selection } = now();
  const blocks = boxesOf(sheet?.blocks ?? [], selection);
  if (blocks.length > 1) await place((await import("./align")).aligned(blocks, how));
}

export async function renameBlock(name: string, to: string): Promise<void> {
  const { sheet, opened, fresh, defines } = now();
  patch({ renaming: null });
  if (!sheet || sheet.within === null || !to || to === name) return;
  const operations: Operation[] = [{ op: "rename", name, to, within: sheet.within }];
  const subsystems = opened?.subsystems ?? [];
  const isNew = fresh === name && defines && sheet.blocks.some((block) => block.name === name && block.type === name);
  if (isNew && subsystems.includes(name) && !subsystems.includes(to)) operations.push({ op: "rename-subsystem", name, to });
  if (!(await edit(...operations))) return;
  patch({ selection: [to], fresh: now().fresh === name ? to : null, said: `${name} is now ${to}` });
}

export async function groupSelected(name: string, kind?: Kind): Promise<void> {
  const { sheet, selection } = now();
  if (!sheet || sheet.within === null || selection.length === 0) return;
  const operation: Operation = { op: "group", name, names: [...selection], within: sheet.within };
  const more = kind ? asKind(kind, name, sheet.within) : [];
  if (await edit(operation, ...more)) patch({ selection: [name], said: `${name} is a subsystem now` });
}
