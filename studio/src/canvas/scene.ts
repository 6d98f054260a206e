// The sheet as what is drawn: blocks, wires with their routes and dots, and what lies where. Elements
// of the page (`nodes.ts`) and the canvas behind them (`Backdrop.tsx`) are both drawn from it.

import type { Point, Range, Sheet, SheetBlock, SheetChange, SheetWire } from "../protocol";
import { branchDots, wireKey, type Box } from "./geometry";

/** A wire as it is drawn. id: its `wireKey`. shape: that of what it carries. dots: where it parts
 * from other wires; each dot is of one wire alone. */
export interface WireShape {
  id: string;
  wire: SheetWire;
  shape: string;
  /** The name of what it carries, at the first wire of each source. */
  name: string;
  dots: readonly Point[];
}

export interface Scene {
  blocks: readonly SheetBlock[];
  wires: readonly WireShape[];
  /** The number of each block. */
  at: ReadonlyMap<string, number>;
  /** The number of each wire. */
  wireAt: ReadonlyMap<string, number>;
}

const scenes = new WeakMap<Sheet, Scene>();
const EMPTY: Scene = { blocks: [], wires: [], at: new Map(), wireAt: new Map() };

export function sceneOf(sheet: Sheet | null): Scene {
  if (!sheet) return EMPTY;
  const known = scenes.get(sheet);
  if (known) return known;
  const wires = shapesOf(sheet);
  const scene = {
    blocks: sheet.blocks,
    wires,
    at: new Map(sheet.blocks.map(({ name }, k) => [name, k])),
    wireAt: new Map(wires.map(({ id }, k) => [id, k])),
  };
  scenes.set(sheet, scene);
  return scene;
}

function shapesOf({ blocks, wires }: Sheet): WireShape[] {
  const dots = branchDots(wires);
  const shapes = new Map(blocks.flatMap(({ name, outputs }) => outputs.map((port) => [`${name}.${port.name}`, port.shape])));
  const drawn = new Set<string>();
  return wires.map((wire) => {
    const net = `${wire.from.block}.${wire.from.port}`;
    const first = !drawn.has(net);
    drawn.add(net);
    const [own, name] = first ? [dots.get(net) ?? [], signalName(wire)] : [[], ""];
    return { id: wireKey(wire), wire, shape: shapes.get(net) ?? "", name, dots: own };
  });
}

/** What a signal is called on its sheet: its port, or its block where that has no names of ports. */
export function signalName({ from, source }: SheetWire): string {
  const part = /\[[^\]]*\]$/.exec(source)?.[0] ?? "";
  return (/^\d*$/.test(from.port) ? from.block : from.port) + part;
}

// --- what lies where ----------------------------------------------------------------------------

/** The size of a square, and more than there are in a column. */
const [CELL, ROWS] = [400, 1 << 24];

/** What lies in squares of the sheet: numbers of blocks, and of wires. */
class Grid {
  private cells = new Map<number, number[]>();
  private count = 0;
  private bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };

  add(number: number, x0: number, y0: number, x1: number, y1: number): void {
    const { bounds } = this;
    this.count = number + 1;
    bounds.left = Math.min(bounds.left, x0);
    bounds.top = Math.min(bounds.top, y0);
    bounds.right = Math.max(bounds.right, x1);
    bounds.bottom = Math.max(bounds.bottom, y1);
    for (let column = Math.floor(x0 / CELL); column <= Math.floor(x1 / CELL); column++) {
      for (let row = Math.floor(y0 / CELL); row <= Math.floor(y1 / CELL); row++) {
        const cell = this.cells.get(ROWS * column + row);
        if (!cell) this.cells.set(ROWS * column + row, [number]);
        else if (cell.at(-1) !== number) cell.push(number);
      }
    }
  }

  /** Whether all lies in a box. */
  isWithin({ x, y, width, height }: Box): boolean {
    const { left, top, right, bottom } = this.bounds;
    return x <= left && y <= top && x + width >= right && y + height >= bottom;
  }

  /** What may lie in a box, each once and in order. */
  near({ x, y, width, height }: Box): number[] {
    const { left, top, right, bottom } = this.bounds;
    const [from, to] = [Math.floor(Math.max(x, left) / CELL), Math.floor(Math.min(x + width, right) / CELL)];
    const [high, low] = [Math.floor(Math.max(y, top) / CELL), Math.floor(Math.min(y + height, bottom) / CELL)];
    const found: number[] = [];
    for (let column = from; column <= to; column++) {
      for (let row = high; row <= low; row++) {
        for (const number of this.cells.get(ROWS * column + row) ?? []) found.push(number);
      }
    }
    if (found.length < this.count / 8) return [...new Set(found)].sort((a, b) => a - b);
    const is = new Uint8Array(this.count); // faster where there are many
    for (const number of found) is[number] = 1;
    const each: number[] = [];
    for (let number = 0; number < this.count; number++) if (is[number]) each.push(number);
    return each;
  }
}

const grids = new WeakMap<Scene, { blocks: Grid; wires: Grid }>();

function gridsOf(scene: Scene): { blocks: Grid; wires: Grid } {
  const known = grids.get(scene);
  if (known) return known;
  const made = { blocks: new Grid(), wires: new Grid() };
  scene.blocks.forEach(({ x, y, width, height }, k) => made.blocks.add(k, x, y, x + width, y + height));
  scene.wires.forEach(({ wire: { points } }, number) => {
    for (let k = 1; k < points.length; k++) {
      const [[ax, ay], [bx, by]] = [points[k - 1]!, points[k]!];
      made.wires.add(number, Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by));
    }
  });
  grids.set(scene, made);
  return made;
}

export function overlap(a: Box, b: Box): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}

/** The numbers of the blocks of which a part lies in a box. */
export function blocksIn(scene: Scene, box: Box): number[] {
  const { blocks } = gridsOf(scene);
  return blocks.isWithin(box) ? [...scene.blocks.keys()] : blocks.near(box).filter((k) => overlap(scene.blocks[k]!, box));
}

/** The numbers of the wires of which a part lies in a box. */
export function wiresIn(scene: Scene, box: Box): number[] {
  const { wires } = gridsOf(scene);
  if (wires.isWithin(box)) return [...scene.wires.keys()];
  return wires.near(box).filter((k) => {
    const { points } = scene.wires[k]!.wire;
    return points.some((point, j) => j > 0 && overlap(boxAround(points[j - 1]!, point), box));
  });
}

export function boxAround([ax, ay]: Point, [bx, by]: Point): Box {
  return { x: Math.min(ax, bx), y: Math.min(ay, by), width: Math.abs(bx - ax), height: Math.abs(by - ay) };
}

/** The block at a point: the last one that is drawn there. */
export function blockAt(scene: Scene, [x, y]: Point): SheetBlock | undefined {
  const k = blocksIn(scene, { x, y, width: 0, height: 0 }).at(-1);
  return k === undefined ? undefined : scene.blocks[k];
}

/** A wire at a distance from a point, if there is one. */
export function wireNear(scene: Scene, [x, y]: Point, distance: number): WireShape | undefined {
  const k = wiresIn(scene, { x: x - distance, y: y - distance, width: 2 * distance, height: 2 * distance }).at(-1);
  return k === undefined ? undefined : scene.wires[k];
}

const nets = new WeakMap<Scene, Map<string, number[]>>();

/** The wires of blocks, each once. */
export function wiresOf(scene: Scene, names: Iterable<string>): WireShape[] {
  let known = nets.get(scene);
  if (!known) {
    known = new Map();
    for (const [k, { wire: { from, to } }] of scene.wires.entries()) {
      for (const { block } of [from, to]) {
        const some = known.get(block);
        if (some) some.push(k);
        else known.set(block, [k]);
      }
    }
    nets.set(scene, known);
  }
  const found = new Set<number>();
  for (const name of names) for (const k of known.get(name) ?? []) found.add(k);
  return [...found].map((k) => scene.wires[k]!);
}

/** A sheet after a change: what is in neither list anew is the same object as before. */
export function changedSheet(before: Sheet, { base: _, ...change }: SheetChange): Sheet {
  return { ...change, blocks: spread(before.blocks, change.blocks), wires: spread(before.wires, change.wires) };
}

function spread<T extends object>(before: readonly T[], parts: readonly (T | Range)[]): T[] {
  return parts.flatMap((part) => (Array.isArray(part) ? before.slice(part[0], part[1]) : [part as T]));
}

/** A sheet in which what has not changed is the same object as before, so that it is not drawn again. */
export function kept(before: Sheet | null, after: Sheet): Sheet {
  if (!before || before.at !== after.at) return after;
  return { ...after, blocks: sameOf(before.blocks, after.blocks, ({ name }) => name), wires: sameOf(before.wires, after.wires, wireKey) };
}

function sameOf<T>(before: readonly T[], after: readonly T[], key: (one: T) => string): T[] {
  const old = new Map(before.map((one) => [key(one), one]));
  return after.map((one) => {
    const known = old.get(key(one));
    return known && (known === one || JSON.stringify(known) === JSON.stringify(one)) ? known : one;
  });
}
