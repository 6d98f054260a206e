// The sheet as a picture of its own: SVG with its colours in it, for papers and reports.

import type { BlockFace, Colour, Point, Sheet, SheetBlock, SheetNote, SheetPort } from "../protocol";
import type { State } from "../store";
import { FONT, hasFace, isTelling, shapesOf } from "./faces";
import { isUpright, portPlace, wayOf } from "./facing";
import { arrowAt, boundsOf, branchDots, lineThrough, toHead } from "./geometry";
import { areaBoxes, linesOf, noteBox, NOTE } from "./annotations";

const MARGIN = 24;
const WIRE = "#3b4252";
const LOOKS: Record<SheetBlock["look"], [fill: string, edge: string]> = {
  source: ["#e9f5ec", "#34764a"],
  sink: ["#f1f2f4", "#646b77"],
  function: ["#eaf1fb", "#356399"],
  continuous: ["#fff3e0", "#96590b"],
  sampled: ["#f3ecfa", "#72489f"],
  subsystem: ["#ffffff", "#333b47"],
  border: ["#ffffff", "#333b47"],
  variant: ["#ffffff", "#333b47"],
};

/** The picture of a sheet as SVG text. */
export function svgOf(sheet: Sheet): string {
  const areas = areaBoxes(sheet);
  const box = boundsOf([...sheet.blocks, ...areas, ...sheet.notes.map(noteBox)], sheet.wires) ?? { x: 0, y: 0, width: 0, height: 0 };
  const [width, height] = [box.width + 2 * MARGIN, box.height + 2 * MARGIN];
  const view = `${box.x - MARGIN} ${box.y - MARGIN} ${width} ${height}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${view}" font-family="sans-serif" text-anchor="middle">`,
    `<rect x="${box.x - MARGIN}" y="${box.y - MARGIN}" width="${width}" height="${height}" fill="#ffffff"/>`,
    ...areas.map(areaOf),
    `<g fill="none" stroke="${WIRE}" stroke-width="1.3">`,
    ...sheet.wires.map(({ points, bus }) => {
      return `<path d="${lineThrough(toHead(points, wayOf(points)))}"${bus.length ? ' stroke-width="3.2"' : ""}/>`;
    }),
    `</g><g fill="${WIRE}">`,
    ...sheet.wires.map(({ points }) => `<path d="${arrowAt(points.at(-1) ?? [0, 0], wayOf(points))}"/>`),
    ...[...branchDots(sheet.wires).values()].flat().map(([x, y]) => `<circle cx="${x}" cy="${y}" r="2.5"/>`),
    "</g>",
    ...sheet.blocks.map(blockOf),
    ...sheet.notes.map(noteOf),
    "</svg>\n",
  ].join("\n");
}

const TINTS: Record<Colour, [fill: string, edge: string]> = {
  red: ["#fbe3e1", "#b3261e"], orange: ["#ffe8d2", "#a8500f"], yellow: ["#fff6cc", "#7d6200"], green: ["#ddf3e3", "#1b7f3b"],
  blue: ["#e3eefb", "#356399"], violet: ["#efe5fa", "#72489f"], grey: ["#eceef1", "#5c6370"],
};

function areaOf({ x, y, width, height, title, colour }: ReturnType<typeof areaBoxes>[number]): string {
  const [fill, edge] = TINTS[colour];
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" fill-opacity="0.55" stroke="${edge}" stroke-width="1"/>`
    + `<text x="${x + 9}" y="${y + 16}" font-size="12" font-weight="bold" fill="${edge}" text-anchor="start">${escaped(title)}</text>`;
}

function noteOf(note: SheetNote): string {
  const lines = linesOf(note.text).map((line, k) => `<tspan x="${note.x}" y="${note.y + NOTE.line * (k + 0.75)}">${escaped(line)}</tspan>`);
  return `<text font-size="12" fill="#3b4252" text-anchor="start">${lines.join("")}</text>`;
}

function blockOf(block: SheetBlock): string {
  const { x, y, width, height, name, type, face, centre, inputs, outputs, look } = block;
  const [fill, edge] = block.colour ? TINTS[block.colour] : LOOKS[look];
  const middle = x + centre;
  const [shows, tells] = [hasFace(block), isTelling(block)];
  const up = tells ? (block.named ? 10 : -4) : shows ? 6 : 0;
  const text = (at: number, line: number, size: number, colour: string, words: string, more = ""): string =>
    `<text x="${at}" y="${line}" font-size="${size}" fill="${colour}"${more}>${escaped(words)}</text>`;
  const port = (output: boolean) => (one: SheetPort): string => {
    const [px, py] = portPlace(block, one.offset, output);
    const inside: Point = isUpright(block.facing) ? [px, py ? py - 5 : 12] : [px ? px - 8 : 8, py + 3];
    const anchor = isUpright(block.facing) ? "middle" : px ? "end" : "start";
    return one.label && text(x + inside[0], y + inside[1], 9, edge, one.label, ` text-anchor="${anchor}"`);
  };
  const inner = look === "subsystem"
    ? `<rect x="${x + 4}" y="${y + 4}" width="${width - 8}" height="${height - 8}" rx="6" fill="none" stroke="${edge}" stroke-width="0.7"/>`
    : "";
  return [
    `<g><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="9" fill="${fill}" stroke="${edge}" stroke-width="1.5"/>${inner}`,
    block.named && text(middle, y + height / 2 - up, 12.5, "#1f2530", name, ' font-weight="bold"'),
    tells ? "" : text(middle, y + height / 2 + 13 - up, 9.5, "#5c6675", type),
    shows && faceOf(face, middle, y + height / 2 + (tells ? (block.named ? 10 : 0) : 16)),
    ...inputs.map(port(false)),
    ...outputs.map(port(true)),
    "</g>",
  ].filter(Boolean).join("");
}

function faceOf(face: BlockFace, x: number, y: number): string {
  const { lines, words } = shapesOf(face);
  return [
    `<g transform="translate(${x} ${y})" fill="none" stroke-width="1.3" stroke-linejoin="round">`,
    ...lines.map(({ path, axis }) => `<path d="${path}" stroke="${axis ? "#b6bcc7" : "#3b4252"}"/>`),
    ...words.map((one) => `<text x="${one.x}" y="${one.y}" font-family="monospace" font-size="${FONT}" fill="#3b4252" stroke="none" text-anchor="${one.anchor}">${escaped(one.text)}</text>`),
    "</g>",
  ].join("");
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Let the browser save the picture of what is shown. */
export function savePicture({ opened, sheet }: Pick<State, "opened" | "sheet">): void {
  if (!opened || !sheet) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svgOf(sheet)], { type: "image/svg+xml" }));
  link.download = `${[opened.name, ...sheet.at.split("/")].filter(Boolean).join("-")}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
