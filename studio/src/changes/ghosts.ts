// Where blocks that are gone are drawn: beside those that they were wired to, on no other.

import type { Marks, Sheet } from "../protocol";

export interface Ghost {
  name: string;
  type: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const HEIGHT = 44;
const GAP = 20;

/** The boxes of the blocks that are gone from a sheet. */
export function ghostsOf({ blocks }: Sheet, { gone, lost }: Marks): Ghost[] {
  const there: Box[] = [...blocks];
  const boxes = new Map<string, Box>(blocks.map((block) => [block.name, block]));
  const bottom = Math.max(0, ...blocks.map(({ y, height }) => y + height));
  const left = Math.min(0, ...blocks.map(({ x }) => x));
  return gone.map(({ name, type }) => {
    const width = Math.max(80, 8 * Math.max(name.length, type.length) + 24);
    const from = lost.flatMap(({ start, end }) => (end === name ? (boxes.get(start) ?? []) : []));
    const to = lost.flatMap(({ start, end }) => (start === name ? (boxes.get(end) ?? []) : []));
    const wanted = placeBeside(from, to, width) ?? { x: left, y: bottom + 2 * GAP };
    const ghost = { name, type, width, height: HEIGHT, ...free({ ...wanted, width, height: HEIGHT }, there) };
    there.push(ghost);
    boxes.set(name, ghost);
    return ghost;
  });
}

/** Right of its sources, left of its targets, or between them. */
function placeBeside(from: readonly Box[], to: readonly Box[], width: number): { x: number; y: number } | null {
  const all = [...from, ...to];
  if (all.length === 0) return null;
  const after = from.length ? Math.max(...from.map((box) => box.x + box.width)) + 3 * GAP : null;
  const before = to.length ? Math.min(...to.map((box) => box.x)) - width - 3 * GAP : null;
  const x = after !== null && before !== null ? (after + before) / 2 : (after ?? before)!;
  const y = all.reduce((sum, box) => sum + box.y + box.height / 2, 0) / all.length - HEIGHT / 2;
  return { x, y };
}

/** The place next to a wanted one, up or down, at which a box lies on no other. */
function free(box: Box, others: readonly Box[]): { x: number; y: number } {
  const { x } = box;
  const isFree = (y: number): boolean => !others.some((one) => x < one.x + one.width + GAP && one.x < x + box.width + GAP
    && y < one.y + one.height + GAP && one.y < y + box.height + GAP);
  for (let step = 0; step < 400; step += 1) {
    const y = box.y + (step % 2 ? 1 : -1) * Math.ceil(step / 2) * GAP;
    if (isFree(y)) return { x, y };
  }
  return { x, y: Math.max(...others.map((one) => one.y + one.height)) + GAP };
}
