// From a wire or a block to where its signal comes from, and to where it goes: through the borders of
// subsystems, and from FROM blocks to their GOTO.

import { attempt, showSheet } from "../actions";
import type { Sheet, SheetBlock, WireEnd } from "../protocol";
import { connection, now, patch } from "../store";
import { wireKey } from "./geometry";

const DEEPEST = 40;

interface Found extends WireEnd {
  at: string;
}

async function sheetAt(at: string): Promise<Sheet | null> {
  const { opened, sheet } = now();
  if (sheet?.at === at) return sheet;
  return attempt(() => connection.ask("sheet", { path: opened?.path, at }));
}

/** Show where the selected wire, or the selected block, gets its signal from, or where it goes. */
export async function trace(toSource: boolean): Promise<void> {
  const { sheet, selection, wires } = now();
  if (!sheet) return;
  const starts = sheet.wires.filter((wire) => wires.includes(wireKey(wire)) || selection.includes((toSource ? wire.to : wire.from).block));
  const ends = unique(starts.map((wire) => ({ at: sheet.at, ...(toSource ? wire.from : wire.to) })));
  const tags = ends.length ? [] : await byTag(sheet, selection, toSource);
  const found = unique((await Promise.all((ends.length ? ends : tags).map((end) => through(end, toSource)))).flat());
  if (found.length === 0) return patch({ said: toSource ? "nothing leads there" : "it leads nowhere" });
  const at = found[0]!.at;
  const names = [...new Set(found.filter((one) => one.at === at).map(({ block }) => block))];
  if (at !== now().sheet?.at) await showSheet(at);
  patch({ selection: names, wires: [], reveal: names, said: `${names.join(", ")}${at ? ` in ${at}` : ""}` });
}

function unique(ends: readonly Found[]): Found[] {
  return [...new Map(ends.map((end) => [`${end.at} ${end.block} ${end.port}`, end])).values()];
}

/** The ends of a signal that is at a port of a block: within it if it is a subsystem, around it at a border. */
async function through(end: Found, toSource: boolean, depth = 0): Promise<Found[]> {
  const sheet = await sheetAt(end.at);
  const block = sheet?.blocks.find(({ name }) => name === end.block);
  if (!sheet || !block || depth > DEEPEST) return [end];
  const next = await beyond(sheet, block, end, toSource);
  if (next.length === 0) return [end];
  return (await Promise.all(next.map((one) => through(one, toSource, depth + 1)))).flat();
}

async function beyond(sheet: Sheet, block: SheetBlock, { at, port }: Found, toSource: boolean): Promise<Found[]> {
  if (block.opens !== null && block.file === null) return wiredIn(await sheetAt(block.opens), toSource ? "out" : "in", port, toSource);
  if (block.look === "border" && at) {
    const cut = at.lastIndexOf("/");
    return wiredIn(await sheetAt(at.slice(0, Math.max(cut, 0))), at.slice(cut + 1), port, toSource);
  }
  return byTag(sheet, [block.name], toSource);
}

function wiredIn(sheet: Sheet | null, name: string, port: string, toSource: boolean): Found[] {
  return (sheet?.wires ?? []).flatMap(({ from, to }) => {
    const [near, far] = toSource ? [to, from] : [from, to];
    return near.block === name && near.port === port ? [{ at: sheet!.at, ...far }] : [];
  });
}

/** What feeds the GOTO of a FROM, or what reads the FROMs of a GOTO. A GOTO of the same sheet comes before
 * one that is known everywhere. */
async function byTag(sheet: Sheet, names: readonly string[], toSource: boolean): Promise<Found[]> {
  const [own, other] = toSource ? ["FROM", "GOTO"] : ["GOTO", "FROM"];
  if (!sheet.blocks.some(({ name, type }) => names.includes(name) && type === own)) return [];
  const all = (await attempt(() => connection.ask("contents", { path: now().opened?.path }))) ?? [];
  const tags = all.filter(({ at, block }) => at === sheet.at && names.includes(block)).map(({ parameters }) => parameters.tag);
  const same = all.filter(({ type, parameters }) => type === other && tags.includes(parameters.tag));
  const near = same.filter(({ at }) => at === sheet.at);
  const found = await Promise.all((near.length ? near : same).map(async ({ at, block }): Promise<Found[]> => {
    const ends = (await sheetAt(at))?.wires.filter(({ from, to }) => (toSource ? to : from).block === block) ?? [];
    return ends.length ? ends.map(({ from, to }) => ({ at, ...(toSource ? from : to) })) : [{ at, block, port: "" }];
  }));
  return found.flat();
}
