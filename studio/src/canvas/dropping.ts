// Blocks that are put down by hand: onto a wire, into an area or out of one, or just elsewhere.

import { editAndPlace, place } from "../actions";
import type { Changed, Operation, Point, Sheet, SheetBlock, SheetWire } from "../protocol";
import { now } from "../store";
import { areaBoxes } from "./annotations";
import type { Box } from "./geometry";
import { drawing } from "./looks";
import { takeAlong } from "./marks";
import { sceneOf, wireNear, type WireShape } from "./scene";
import { endOf, endsOf } from "./wiring";

type Places = Record<string, Point>;

/** Put blocks at places. byHand: a block without wires that lies on a wire is inserted into it, and areas
 * get what is put into them, and lose what is moved out of them. */
export function putDown(places: Places, byHand: boolean): Promise<Changed | null> {
  const { sheet } = now();
  const operations = takeAlong();
  if (sheet?.within != null && byHand) operations.push(...inserted(sheet, places, sheet.within), ...joined(sheet, places, sheet.within));
  return operations.length ? editAndPlace(places, ...operations) : place(places);
}

// --- onto wires --------------------------------------------------------------------------------------

const NEAR = 12;

/** The wire into which a block would be inserted at a place: one that it lies on, and is not wired to. */
export function wireUnder(sheet: Sheet, block: SheetBlock, [x, y]: Point): WireShape | null {
  const [input, output] = [block.inputs[0], block.outputs[0]];
  if (!input || !output || [...block.inputs, ...block.outputs].some(({ wired }) => wired)) return null;
  return wireNear(sceneOf(sheet), [x + block.width / 2, y + block.height / 2], NEAR) ?? null;
}

function inserted(sheet: Sheet, places: Places, within: string): Operation[] {
  const [name, ...others] = Object.keys(places);
  const block = sheet.blocks.find((one) => one.name === name);
  if (!block || others.length) return [];
  const wire = wireUnder(sheet, block, places[block.name]!)?.wire;
  if (!wire) return [];
  const { target } = endsOf(wire.from, { block: block.name, port: block.inputs[0]!.name });
  return between(wire, target, endOf(block.name, block.outputs[0]!.name, true), within);
}

/** The operations that lead a wire through a block. */
export function between({ source, target }: SheetWire, input: string, output: string, within: string): Operation[] {
  return [
    { op: "unwire", source, target, within },
    { op: "wire", source, target: input, within },
    { op: "wire", source: output, target, within },
  ];
}

// --- into areas and out of them -----------------------------------------------------------------------

function joined(sheet: Sheet, places: Places, within: string): Operation[] {
  const moved = sheet.blocks.filter(({ name }) => name in places);
  return areaBoxes(sheet).flatMap((area) => {
    const out = new Set<string>();
    const come: string[] = [];
    for (const block of moved) {
      const [x, y] = places[block.name]!;
      if (area.blocks.includes(block.name)) {
        if (area.blocks.some((name) => !(name in places)) && !touches({ ...block, x, y }, area)) out.add(block.name);
      } else if (contains(area, [x + block.width / 2, y + block.height / 2])) come.push(block.name);
    }
    if (out.size + come.length === 0) return [];
    return [drawing(`areas[${area.index}].blocks`, [...area.blocks.filter((name) => !out.has(name)), ...come], within)];
  });
}

function contains({ x, y, width, height }: Box, [px, py]: Point): boolean {
  return px >= x && px <= x + width && py >= y && py <= y + height;
}

function touches(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
