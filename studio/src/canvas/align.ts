// Lining blocks up.

import type { Point } from "../protocol";
import type { Box } from "./geometry";

export type Alignment = "left" | "centre" | "right" | "top" | "middle" | "bottom" | "across" | "down";

export interface Named extends Box {
  name: string;
}

/** New places of blocks, by name. across and down spread them with equal gaps between. */
export function aligned(blocks: readonly Named[], how: Alignment): Record<string, Point> {
  if (how === "across") return spread(blocks, "x", "width");
  if (how === "down") return spread(blocks, "y", "height");
  const left = Math.min(...blocks.map(({ x }) => x));
  const right = Math.max(...blocks.map(({ x, width }) => x + width));
  const top = Math.min(...blocks.map(({ y }) => y));
  const bottom = Math.max(...blocks.map(({ y, height }) => y + height));
  const place = ({ x, y, width, height }: Named): Point => {
    switch (how) {
      case "left": return [left, y];
      case "right": return [right - width, y];
      case "centre": return [(left + right - width) / 2, y];
      case "top": return [x, top];
      case "bottom": return [x, bottom - height];
      case "middle": return [x, (top + bottom - height) / 2];
    }
  };
  return Object.fromEntries(blocks.map((block) => [block.name, place(block)]));
}

function spread(blocks: readonly Named[], along: "x" | "y", size: "width" | "height"): Record<string, Point> {
  const order = [...blocks].sort((a, b) => a[along] - b[along]);
  const [first, last] = [order[0], order.at(-1)];
  if (!first || !last) return {};
  const filled = order.reduce((sum, block) => sum + block[size], 0);
  const gap = (last[along] + last[size] - first[along] - filled) / Math.max(order.length - 1, 1);
  let next = first[along];
  const places: Record<string, Point> = {};
  for (const block of order) {
    places[block.name] = along === "x" ? [next, block.y] : [block.x, next];
    next += block[size] + gap;
  }
  return places;
}
