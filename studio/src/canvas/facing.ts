// The sides of blocks: to which one the outputs lead, and what follows for ports and wires.

import { Position } from "@xyflow/react";

import type { Facing, Point, SheetBlock } from "../protocol";

/** A direction: right, down, left or up. */
export type Way = Point;
export const RIGHT: Way = [1, 0];
const ORDER: readonly Facing[] = ["right", "down", "left", "up"];
const SIDES = [Position.Right, Position.Bottom, Position.Left, Position.Top] as const;
const WAYS: readonly Way[] = [RIGHT, [0, 1], [-1, 0], [0, -1]];

/** A block's facing after quarter turns clockwise. */
export function turned(facing: Facing, quarters: number): Facing {
  return ORDER[(ORDER.indexOf(facing) + quarters + 4) % 4]!;
}

export function isUpright(facing: Facing): boolean {
  return facing === "up" || facing === "down";
}

/** The side of a block that has its inputs, or its outputs. */
export function sideOf(facing: Facing, output: boolean): Position {
  return SIDES[ORDER.indexOf(output ? facing : turned(facing, 2))]!;
}

/** The direction in which a wire leaves an output at a side of its block. */
export function wayOut(side: Position): Way {
  return WAYS[SIDES.indexOf(side)]!;
}

/** The direction in which a wire comes to an input at a side of its block. */
export function wayIn(side: Position): Way {
  const [x, y] = wayOut(side);
  return [0 - x, 0 - y];
}

/** The place of a port from the upper left corner of its block. */
export function portPlace({ facing, width, height }: Pick<SheetBlock, "facing" | "width" | "height">, offset: number, output: boolean): Point {
  const side = sideOf(facing, output);
  if (isUpright(facing)) return [offset, side === Position.Bottom ? height : 0];
  return [side === Position.Right ? width : 0, offset];
}

/** The direction of the last part of a route, or of its first. */
export function wayOf(points: readonly Point[], first = false): Way {
  const [a, b] = first ? [points[0], points[1]] : [points.at(-2), points.at(-1)];
  if (!a || !b || (a[0] === b[0] && a[1] === b[1])) return RIGHT;
  return a[1] === b[1] ? [Math.sign(b[0] - a[0]), 0] : [0, Math.sign(b[1] - a[1])];
}
