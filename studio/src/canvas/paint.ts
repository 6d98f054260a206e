// Blocks and wires painted on a canvas: the same picture as that of their elements.

import type { Colour, Point, SheetBlock } from "../protocol";
import { FONT, hasFace, isTelling, shapesOf } from "./faces";
import { isUpright, portPlace, wayOf } from "./facing";
import { ARROW, type Box, simpleRoute, toHead } from "./geometry";
import { blocksIn, overlap, type Scene, type WireShape, wiresIn, wiresOf } from "./scene";
import { FAR } from "./shown";

type Brush = CanvasRenderingContext2D;

export interface Colours {
  ink: string;
  muted: string;
  accent: string;
  fault: string;
  wire: string;
  /** Fill and edge of each look. */
  looks: Record<Tone, readonly [fill: string, edge: string]>;
}

/** What differs from the sheet as served. moved: how far blocks are from their places; absent: what is not
 * painted, as it is in the page. */
export interface Shifted {
  selected: ReadonlySet<string>;
  chosen: ReadonlySet<string>;
  moved: ReadonlyMap<string, Point>;
  absent: { blocks: ReadonlySet<string>; wires: ReadonlySet<string> };
}

const LOOKS = ["source", "sink", "function", "continuous", "sampled", "subsystem", "border", "variant"] as const;
const TINTS = ["red", "orange", "yellow", "green", "blue", "violet", "grey"] as const;
type Tone = SheetBlock["look"] | Colour;
/** The least zooms at which names, other texts, and round corners are painted. */
const [NAMED, ROUND] = [0.28, 0.2];

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const base = { source: "source", sink: "sink", function: "function", continuous: "continuous", sampled: "sampled" } as Record<string, string>;
  const tints = TINTS.map((tint) => [tint, [colour(tint), colour(`${tint}-edge`)]]);
  const looks = LOOKS.map((look) => [look, [colour(base[look] ?? "subsystem"), colour(`${base[look] ?? "subsystem"}-edge`)]]);
  return {
    ink: colour("ink"), muted: colour("muted"), accent: colour("accent"), fault: colour("fault"), wire: colour("wire"),
    looks: Object.fromEntries([...looks, ...tints]) as Colours["looks"],
  };
}

/** Paint in steps what of a scene lies in boxes. The brush has the transformation of the view. */
export function* painting(brush: Brush, scene: Scene, boxes: readonly Box[], zoom: number, colours: Colours, what: Shifted): Steps {
  const wires = all(boxes, (box) => wiresIn(scene, box)).map((k) => scene.wires[k]!).filter(({ id, wire: { from, to } }) =>
    !what.absent.wires.has(id) && !what.moved.has(from.block) && !what.moved.has(to.block));
  yield;
  const blocks = all(boxes, (box) => blocksIn(scene, box)).map((k) => scene.blocks[k]!)
    .filter(({ name }) => !what.absent.blocks.has(name) && !what.moved.has(name));
  yield;
  yield* paintWires(brush, wires, zoom, colours, what);
  yield* paintBlocks(brush, blocks, zoom, colours, what);
}

/** What is painted in parts, between which there can be a frame. */
export type Steps = Generator<undefined, void>;
/** Wires, boxes, and boxes with texts of one step. */
const [WIRES, BOXES, TEXTS] = [120, 120, 12];

export function finish(steps: Steps): void {
  while (!steps.next().done);
}

/** The numbers that are found in boxes, each once and in order. */
function all(boxes: readonly Box[], found: (box: Box) => number[]): number[] {
  return boxes.length === 1 ? found(boxes[0]!) : [...new Set(boxes.flatMap(found))].sort((a, b) => a - b);
}

function* inSteps<T>(all: readonly T[], size: number, paint: (some: readonly T[]) => void): Steps {
  for (let k = 0; k < all.length; k += size) {
    paint(all.length <= size ? all : all.slice(k, k + size));
    yield;
  }
}

function* paintWires(brush: Brush, wires: readonly WireShape[], zoom: number, { wire, accent, fault }: Colours, { chosen }: Shifted): Steps {
  const isWrong = ({ wire: { problems } }: WireShape): boolean => problems.length > 0;
  const isChosen = ({ id }: WireShape): boolean => chosen.has(id);
  yield* inSteps(wires.filter((one) => !isChosen(one) && !isWrong(one)), WIRES, (some) => strokeRoutes(brush, some, 1.3, zoom, wire));
  yield* inSteps(wires.filter((one) => !isChosen(one) && isWrong(one)), WIRES, (some) => strokeRoutes(brush, some, 1.3, zoom, fault));
  yield* inSteps(wires.filter(isChosen), WIRES, (some) => strokeRoutes(brush, some, 2.2, zoom, accent));
}

const BUS_WIDTH = 3.2;

/** Routes have right angles: each run is a bar, which is painted faster than a line. */
function strokeRoutes(brush: Brush, wires: readonly WireShape[], width: number, zoom: number, colour: string): void {
  brush.fillStyle = colour;
  for (const { wire: { points, bus }, dots } of wires) {
    if (bus.length) bars(brush, toHead(points, wayOf(points)), Math.max(BUS_WIDTH, 1.7 / zoom));
    else bars(brush, points, Math.max(width, 0.7 / zoom));
    if (zoom < ROUND) continue;
    for (const [x, y] of dots) brush.fillRect(x - 2.2, y - 2.2, 4.4, 4.4);
    head(brush, points);
  }
}

function bars(brush: Brush, points: readonly Point[], width: number): void {
  for (let k = 1; k < points.length; k++) {
    const [[ax, ay], [bx, by]] = [points[k - 1]!, points[k]!];
    if (ax === bx) brush.fillRect(ax - width / 2, Math.min(ay, by) - width / 2, width, Math.abs(by - ay) + width);
    else brush.fillRect(Math.min(ax, bx), ay - width / 2, Math.abs(bx - ax), width);
  }
}

function head(brush: Brush, points: readonly Point[]): void {
  const tip = points.at(-1);
  if (!tip) return;
  const [[x, y], [dx, dy]] = [tip, wayOf(points)];
  const [bx, by] = [x - ARROW * dx, y - ARROW * dy];
  brush.beginPath();
  brush.moveTo(x, y);
  brush.lineTo(bx - 3 * dy, by - 3 * dx);
  brush.lineTo(bx + 3 * dy, by + 3 * dx);
  brush.fill();
}

function* paintBlocks(brush: Brush, blocks: readonly SheetBlock[], zoom: number, colours: Colours, { selected }: Shifted): Steps {
  const tones = new Map<Tone, SheetBlock[]>();
  for (const block of blocks) {
    const tone = block.colour ?? block.look;
    const some = tones.get(tone);
    if (some) some.push(block);
    else tones.set(tone, [block]);
  }
  for (const [tone, all] of tones) {
    const [fill, edge] = colours.looks[tone];
    yield* inSteps(all, BOXES, (some) => boxes(brush, some, zoom, fill, edge, tone === "border" ? 20 : 9));
  }
  outline(brush, blocks.filter(({ problems }) => problems.length > 0), colours.fault, Math.max(1.5, 1 / zoom));
  outline(brush, blocks.filter(({ name }) => selected.has(name)), colours.accent, Math.max(3, 1.5 / zoom));
  if (zoom >= NAMED) yield* inSteps(blocks, TEXTS, (some) => some.forEach((block) => texts(brush, block, zoom, colours)));
}

function boxes(brush: Brush, blocks: readonly SheetBlock[], zoom: number, fill: string, edge: string, radius: number): void {
  if (zoom < ROUND) {
    // A box within a box is painted faster than one with a line around.
    const line = 1 / zoom;
    brush.fillStyle = edge;
    for (const { x, y, width, height } of blocks) brush.fillRect(x, y, width, height);
    brush.fillStyle = fill;
    for (const { x, y, width, height } of blocks) brush.fillRect(x + line, y + line, width - 2 * line, height - 2 * line);
    return;
  }
  brush.lineWidth = 1.5;
  brush.fillStyle = fill;
  brush.strokeStyle = edge;
  for (const { x, y, width, height, look } of blocks) {
    brush.beginPath();
    brush.roundRect(x + 0.75, y + 0.75, width - 1.5, height - 1.5, radius - 0.75);
    brush.fill();
    if (look === "variant") brush.setLineDash([4, 3]);
    brush.stroke();
    if (look === "variant") brush.setLineDash([]);
    if (look === "subsystem") brush.strokeRect(x + 4.5, y + 4.5, width - 9, height - 9);
  }
}

function outline(brush: Brush, blocks: readonly SheetBlock[], colour: string, width: number): void {
  brush.lineWidth = width;
  brush.strokeStyle = colour;
  for (const { x, y, width: w, height } of blocks) brush.strokeRect(x - width / 2, y - width / 2, w + width, height + width);
}

/** Name, type, face and texts at ports, about where their elements are. */
function texts(brush: Brush, block: SheetBlock, zoom: number, { ink, muted, looks }: Colours): void {
  const { x, y, height, centre, name, type, look, colour, named, facing } = block;
  const far = zoom < FAR;
  const [shows, tells] = [hasFace(block), isTelling(block)];
  const faceHeight = shows ? shapesOf(block.face).height : 0;
  let line = y + height / 2 - ((named ? 16 : 0) + (tells ? 0 : 12.5) + faceHeight) / 2 + 8;
  brush.textAlign = "center";
  brush.textBaseline = "middle";
  brush.fillStyle = ink;
  brush.font = `700 ${far ? 15 : 13}px system-ui, sans-serif`;
  if (named) brush.fillText(name, x + centre, line);
  if (far) return;
  if (named) line += 14.5;
  if (!tells) {
    brush.fillStyle = muted;
    brush.font = "10px system-ui, sans-serif";
    brush.fillText(type, x + centre, line);
    line += 12.5;
  }
  if (shows) face(brush, block, x + centre, line - 6.5 + faceHeight / 2, ink, muted);
  brush.fillStyle = looks[colour ?? look][1];
  brush.font = "10px system-ui, sans-serif";
  for (const output of [false, true]) {
    for (const { label, offset } of output ? block.outputs : block.inputs) {
      if (!label) continue;
      const [px, py] = portPlace(block, offset, output);
      brush.textAlign = isUpright(facing) ? "center" : px ? "right" : "left";
      if (isUpright(facing)) brush.fillText(label, x + px, y + (py ? py - 9 : 9));
      else brush.fillText(label, x + (px ? px - 9.5 : 9.5), y + py);
    }
  }
}

function face(brush: Brush, block: SheetBlock, x: number, y: number, ink: string, muted: string): void {
  const { lines, words } = shapesOf(block.face);
  brush.save();
  brush.translate(x, y);
  brush.lineWidth = 1.3;
  for (const { path, axis } of lines) {
    brush.strokeStyle = axis ? muted : ink;
    brush.stroke(new Path2D(path));
  }
  brush.fillStyle = ink;
  brush.font = `${FONT}px ui-monospace, monospace`;
  brush.textBaseline = "alphabetic";
  for (const { x: at, y: base, text, anchor } of words) {
    brush.textAlign = anchor === "middle" ? "center" : "left";
    brush.fillText(text, at, base);
  }
  brush.restore();
}

/** Paint blocks that are being moved, and their wires, which have simple routes meanwhile. */
export function paintMoved(brush: Brush, scene: Scene, box: Box, zoom: number, colours: Colours, what: Shifted): boolean {
  const { moved, absent } = what;
  const wires = wiresOf(scene, moved.keys()).filter(({ id }) => !absent.wires.has(id)).map((one) => shifted(one, moved));
  const blocks = [...moved].flatMap(([name, [dx, dy]]) => {
    const block = scene.blocks[scene.at.get(name) ?? -1];
    return block && !absent.blocks.has(name) ? [{ ...block, x: block.x + dx, y: block.y + dy }] : [];
  }).filter((block) => overlap(block, box));
  finish(paintWires(brush, wires, zoom, colours, what));
  finish(paintBlocks(brush, blocks, zoom, colours, what));
  return wires.length + blocks.length > 0;
}

function shifted(shape: WireShape, moved: ReadonlyMap<string, Point>): WireShape {
  const { wire } = shape;
  const { from, to, points } = wire;
  const [[ax, ay], [bx, by]] = [moved.get(from.block) ?? [0, 0], moved.get(to.block) ?? [0, 0]];
  const [[sx, sy], [tx, ty]] = [points[0] ?? [0, 0], points.at(-1) ?? [0, 0]];
  const route = ax === bx && ay === by
    ? points.map(([x, y]): Point => [x + ax, y + ay])
    : simpleRoute([sx + ax, sy + ay], [tx + bx, ty + by], wayOf(points, true), wayOf(points));
  return { ...shape, wire: { ...wire, points: route }, dots: [] };
}
