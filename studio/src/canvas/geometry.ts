// Places, boxes and routes of the sheet, in pixels at zoom 1.

import type { Point, SheetBlock, SheetWire } from "../protocol";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The box around blocks and wires; null without any. */
export function boundsOf(blocks: readonly Box[], wires: readonly SheetWire[] = []): Box | null {
  const points: Point[] = wires.flatMap((wire) => wire.points);
  const xs = [...blocks.flatMap(({ x, width }) => [x, x + width]), ...points.map(([x]) => x)];
  const ys = [...blocks.flatMap(({ y, height }) => [y, y + height]), ...points.map(([, y]) => y)];
  if (xs.length === 0) return null;
  const x = least(xs);
  const y = least(ys);
  return { x, y, width: -least(xs.map((one) => -one)) - x, height: -least(ys.map((one) => -one)) - y };
}

// Not Math.min(...numbers), which has no room for very many.
function least(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => Math.min(a, b));
}

/** The path of a line with small rounded corners. */
export function lineThrough(points: readonly Point[], radius = 4): string {
  const [first, ...others] = points;
  if (!first) return "";
  let path = `M${first[0]} ${first[1]}`;
  others.forEach((corner, k) => {
    const before = points[k] as Point;
    const after = points[k + 2];
    if (!after) {
      path += `L${corner[0]} ${corner[1]}`;
      return;
    }
    const r = Math.min(radius, distance(before, corner) / 2, distance(corner, after) / 2);
    const [a, b] = [towards(corner, before, r), towards(corner, after, r)];
    path += `L${a[0]} ${a[1]}Q${corner[0]} ${corner[1]} ${b[0]} ${b[1]}`;
  });
  return path;
}

function distance([ax, ay]: Point, [bx, by]: Point): number {
  return Math.hypot(bx - ax, by - ay);
}

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to) || 1;
  const share = length / whole;
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

export const ARROW = 7;

/** The head of a wire that comes from the left, with its tip at a point. */
export function arrowAt([x, y]: Point): string {
  return `M${x} ${y}l${-ARROW} -3v6z`;
}

const STUB = 14;

/** A right-angled route from an output to an input while no better one is known. */
export function simpleRoute([sx, sy]: Point, [tx, ty]: Point): Point[] {
  if (Math.abs(sy - ty) < 0.5 && tx > sx) return [[sx, sy], [tx, ty]];
  if (tx - sx >= 2 * STUB) {
    const middle = (sx + tx) / 2;
    return [[sx, sy], [middle, sy], [middle, ty], [tx, ty]];
  }
  const between = Math.abs(ty - sy) > 4 * STUB ? (sy + ty) / 2 : Math.max(sy, ty) + 4 * STUB;
  return [
    [sx, sy], [sx + STUB, sy], [sx + STUB, between], [tx - STUB, between], [tx - STUB, ty], [tx, ty],
  ];
}

/** Where wires of one source part from each other: points from which lines go on in three or
 * more directions. */
export function branchDots(wires: readonly SheetWire[]): Map<string, Point[]> {
  const nets = new Map<string, SheetWire[]>();
  for (const wire of wires) {
    const net = `${wire.from.block}.${wire.from.port}`;
    nets.set(net, [...(nets.get(net) ?? []), wire]);
  }
  const dots = new Map<string, Point[]>();
  for (const [net, parts] of nets) if (parts.length > 1) dots.set(net, dotsOf(parts));
  return dots;
}

function dotsOf(wires: readonly SheetWire[]): Point[] {
  const corners = new Map<string, Point>();
  for (const { points } of wires) for (const point of points) corners.set(point.join(), point);
  return [...corners.values()].filter((point) => {
    const ways = new Set<string>();
    for (const { points } of wires) {
      for (let k = 1; k < points.length; k++) waysFrom(point, points[k - 1]!, points[k]!, ways);
    }
    return ways.size > 2;
  });
}

/** Add the directions in which the line from a to b leaves a point on it. */
function waysFrom([x, y]: Point, [ax, ay]: Point, [bx, by]: Point, ways: Set<string>): void {
  if (ax === bx && x === ax && y >= Math.min(ay, by) && y <= Math.max(ay, by)) {
    if (y > Math.min(ay, by)) ways.add("up");
    if (y < Math.max(ay, by)) ways.add("down");
  }
  if (ay === by && y === ay && x >= Math.min(ax, bx) && x <= Math.max(ax, bx)) {
    if (x > Math.min(ax, bx)) ways.add("left");
    if (x < Math.max(ax, bx)) ways.add("right");
  }
}

/** A place at the longest level part of a route for a text over it, before the middle, where wires often part. */
export function labelPlace(points: readonly Point[]): { at: Point; room: number } {
  let best: { at: Point; room: number } = { at: points[0] ?? [0, 0], room: 0 };
  for (let k = 1; k < points.length; k++) {
    const [[ax, ay], [bx, by]] = [points[k - 1]!, points[k]!];
    const room = ay === by ? Math.abs(bx - ax) : 0;
    if (room > best.room) best = { at: [ax + (bx - ax) / 3, ay], room };
  }
  return best;
}

/** A place near the wanted one at which a block of a size covers no other. */
export function freePlace([x, y]: Point, width: number, height: number, others: readonly Box[]): Point {
  const gap = 20;
  let at: Point = [x, y];
  for (let tries = 0; tries < 100; tries++) {
    const covered = others.find(
      (one) =>
        at[0] < one.x + one.width + gap && at[0] + width + gap > one.x &&
        at[1] < one.y + one.height + gap && at[1] + height + gap > one.y,
    );
    if (!covered) return at;
    at = [at[0], covered.y + covered.height + gap];
  }
  return at;
}

/** The name of a wire on its sheet. Wires of several signals, `a.* -> b`, are written once and drawn
 * between each pair of ports. */
export function wireKey({ source, target, from, to }: Pick<SheetWire, "source" | "target" | "from" | "to">): string {
  const written = `${source} -> ${target}`;
  return /[*{]/.test(source) ? `${written} (${from.port} ${to.port})` : written;
}

export function boxesOf(blocks: readonly SheetBlock[], names: readonly string[]): SheetBlock[] {
  const wanted = new Set(names);
  return blocks.filter(({ name }) => wanted.has(name));
}
