// Places, boxes and routes of the sheet, in pixels at zoom 1.

import type { Point, SheetBlock, SheetWire } from "../protocol";
import { RIGHT, type Way } from "./facing";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The box around blocks and wires; null without any. */
export function boundsOf(blocks: readonly Box[], wires: readonly SheetWire[] = []): Box | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const reach = (x: number, y: number): void => {
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  };
  for (const { x, y, width, height } of blocks) {
    reach(x, y);
    reach(x + width, y + height);
  }
  for (const { points } of wires) for (const [x, y] of points) reach(x, y);
  return left > right ? null : { x: left, y: top, width: right - left, height: bottom - top };
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

/** The head of a wire that comes a way, with its tip at a point. */
export function arrowAt([x, y]: Point, [dx, dy]: Way = RIGHT): string {
  const [bx, by] = [x - ARROW * dx, y - ARROW * dy];
  return `M${x} ${y}L${bx - 3 * dy} ${by - 3 * dx}L${bx + 3 * dy} ${by + 3 * dx}z`;
}

/** A route that ends within the head of its arrow. */
export function toHead(points: readonly Point[], [dx, dy]: Way): Point[] {
  const [x, y] = points.at(-1) ?? [0, 0];
  return [...points.slice(0, -1), [x - (ARROW - 1) * dx, y - (ARROW - 1) * dy]];
}

const STUB = 14;

/** A right-angled route from an output to an input while no better one is known. */
export function simpleRoute([sx, sy]: Point, [tx, ty]: Point, out: Way = RIGHT, into: Way = RIGHT): Point[] {
  if (out[0] !== 1 || into[0] !== 1) {
    const [a, b]: Point[] = [[sx + STUB * out[0], sy + STUB * out[1]], [tx - STUB * into[0], ty - STUB * into[1]]];
    const corner: Point = out[0] ? [b![0], a![1]] : [a![0], b![1]];
    return [[sx, sy], a!, corner, b!, [tx, ty]];
  }
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
    const parts = nets.get(net);
    if (parts) parts.push(wire);
    else nets.set(net, [wire]);
  }
  const dots = new Map<string, Point[]>();
  for (const [net, parts] of nets) if (parts.length > 1) dots.set(net, dotsOf(parts));
  return dots;
}

function dotsOf(wires: readonly SheetWire[]): Point[] {
  const corners = new Map<string, Point>();
  const [across, upright] = [new Runs(), new Runs()];
  for (const { points } of wires) {
    points.forEach((point, k) => {
      corners.set(point.join(), point);
      const [x, y] = point;
      const [px, py] = points[k - 1] ?? point;
      if (y === py) across.add(y, px, x);
      if (x === px) upright.add(x, py, y);
    });
  }
  return [...corners.values()].filter(([x, y]) => across.ways(y, x) + upright.ways(x, y) > 2);
}

/** Runs along lines, by where the line is. */
class Runs {
  private lines = new Map<number, [low: number, high: number][]>();
  private joined = false;

  add(at: number, a: number, b: number): void {
    if (a === b) return;
    const run: [number, number] = a < b ? [a, b] : [b, a];
    const line = this.lines.get(at);
    if (line) line.push(run);
    else this.lines.set(at, [run]);
  }

  /** The number of directions in which runs leave a point of a line. */
  ways(at: number, where: number): number {
    if (!this.joined) this.join();
    const line = this.lines.get(at) ?? [];
    let [from, to] = [0, line.length]; // the last run that begins at or before the point
    while (from < to) {
      const middle = (from + to) >> 1;
      if (line[middle]![0] <= where) from = middle + 1;
      else to = middle;
    }
    const [low, high] = line[from - 1] ?? [0, -1];
    return where > high ? 0 : Number(where > low) + Number(where < high);
  }

  private join(): void {
    for (const [at, runs] of this.lines) {
      runs.sort(([a], [b]) => a - b);
      const whole: [number, number][] = [];
      for (const [low, high] of runs) {
        const last = whole.at(-1);
        if (last && low <= last[1]) last[1] = Math.max(last[1], high);
        else whole.push([low, high]);
      }
      this.lines.set(at, whole);
    }
    this.joined = true;
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
