// Where areas and notes lie on a sheet, in pixels at zoom 1.

import type { Point, Sheet, SheetArea, SheetBlock, SheetNote } from "../protocol";
import { boundsOf, type Box } from "./geometry";

/** Space around the blocks of an area, above for its title, and for each area within. */
const [PADDING, TITLE, NESTED] = [20, 18, 12];
export const NOTE = { letter: 7, line: 17 };

export function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}

/** About the room that a note takes. */
export function noteBox({ x, y, text }: Pick<SheetNote, "x" | "y" | "text">): Box {
  const lines = linesOf(text);
  return { x, y, width: NOTE.letter * Math.max(...lines.map((line) => line.length)) + 8, height: NOTE.line * lines.length };
}

/** The areas of a sheet with their boxes, those that others lie in first. */
export function areaBoxes({ areas, blocks }: Pick<Sheet, "areas" | "blocks">): (SheetArea & Box)[] {
  if (areas.length === 0) return [];
  const at = new Map(blocks.map((block) => [block.name, block]));
  const members = areas.map((area) => new Set(area.blocks));
  const found = areas.map((area, k) => ({ area, depth: depthOf(members[k]!, members) }));
  return found.sort((a, b) => b.depth - a.depth).flatMap(({ area, depth }) => {
    const box = around(area.blocks.flatMap((name) => at.get(name) ?? []), area.title, depth);
    return box ? [{ ...area, ...box }] : [];
  });
}

/** How many areas lie within one another in an area. */
function depthOf(members: ReadonlySet<string>, all: readonly ReadonlySet<string>[]): number {
  const within = all.filter((one) => one.size < members.size && [...one].every((name) => members.has(name)));
  return Math.max(0, ...within.map((one) => 1 + depthOf(one, within)));
}

export function around(blocks: readonly SheetBlock[], title: string, depth = 0): Box | null {
  const box = boundsOf(blocks);
  if (!box) return null;
  const padding = PADDING + NESTED * depth;
  const above = padding + (title ? TITLE * (depth + 1) : 0);
  const width = Math.max(box.width + 2 * padding, NOTE.letter * title.length + 18);
  return { x: box.x - padding, y: box.y - above, width, height: box.height + above + padding };
}

const NEAR = 60;

/** Where a note is written that lies at a place: from the corner of the block that it is near, if there is one. */
export function anchored(box: Box, blocks: readonly SheetBlock[]): { at: Point; by: string | null } {
  let best: { block: SheetBlock; away: number } | null = null;
  for (const block of blocks) {
    const dx = Math.max(block.x - box.x - box.width, box.x - block.x - block.width, 0);
    const dy = Math.max(block.y - box.y - box.height, box.y - block.y - block.height, 0);
    const away = Math.hypot(dx, dy);
    if (away <= NEAR && (!best || away < best.away)) best = { block, away };
  }
  const [x, y] = best ? [box.x - best.block.x, box.y - best.block.y] : [box.x, box.y];
  return { at: [Math.round(x), Math.round(y)], by: best?.block.name ?? null };
}
