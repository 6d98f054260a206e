// Lines along which blocks are in line while they are dragged: a dragged block snaps to the edges and the
// middles of others that are seen.

import type { Point } from "../protocol";
import type { Box } from "./geometry";

export interface Guide {
  /** Whether it runs upright, at x; else across, at y. */
  upright: boolean;
  at: number;
  from: number;
  to: number;
}

export interface Snap {
  /** How far the block is moved. */
  shift: Point;
  guides: readonly Guide[];
}

const places = (start: number, size: number): number[] => [start, start + size / 2, start + size];

/** The nearest alignment of a box with others. reach: how near it must be [px of the sheet]. */
export function snapOf(box: Box, others: readonly Box[], reach: number): Snap {
  const [dx, dy] = [nearest(box, others, reach, "x", "width"), nearest(box, others, reach, "y", "height")];
  const there = { ...box, x: box.x + dx, y: box.y + dy };
  return { shift: [dx, dy], guides: [...guidesOf(there, others, true), ...guidesOf(there, others, false)] };
}

function nearest(box: Box, others: readonly Box[], reach: number, at: "x" | "y", size: "width" | "height"): number {
  const own = places(box[at], box[size]);
  let best = Infinity;
  for (const other of others) {
    const theirs = places(other[at], other[size]);
    // Edges with edges, middles with middles.
    for (const [a, b] of [[0, 0], [0, 2], [1, 1], [2, 0], [2, 2]] as const) {
      const off = theirs[b]! - own[a]!;
      if (Math.abs(off) < Math.abs(best)) best = off;
    }
  }
  return Math.abs(best) <= reach ? best : 0;
}

function guidesOf(box: Box, others: readonly Box[], upright: boolean): Guide[] {
  const [at, size, along, length] = upright ? ["x", "width", "y", "height"] as const : ["y", "height", "x", "width"] as const;
  const found: Guide[] = [];
  places(box[at], box[size]).forEach((place, k) => {
    const same = others.filter((other) => places(other[at], other[size]).some((one, j) => Math.abs(one - place) < 0.01 && (k === 1) === (j === 1)));
    if (same.length === 0) return;
    const all = [box, ...same];
    found.push({ upright, at: place, from: Math.min(...all.map((one) => one[along])), to: Math.max(...all.map((one) => one[along] + one[length])) });
  });
  return found;
}
