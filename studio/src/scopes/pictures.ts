// A scope as a picture to keep: PNG as it is on the page, SVG drawn anew from the same lines.

import { niceStep, ticks, tickText } from "../../../viewer/src/numbers";
import { type Line, unitsOf } from "./lines";
import type { Plot } from "./plot";
import { signPath } from "./styles";
import { type Points, thinned, trace, type View } from "./thinning";

const LEGEND_ROW = 18;

/** Save the plot as it is drawn, with its title and legend. */
export function savePng(title: string, lines: readonly Line[], plot: Plot): void {
  const from = plot.canvas;
  const ratio = from.width / Math.max(from.clientWidth, 1);
  const canvas = document.createElement("canvas");
  canvas.width = from.width;
  canvas.height = from.height + Math.round((24 + LEGEND_ROW * (1 + lines.length)) * ratio);
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(document.body);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(from, 0, Math.round(24 * ratio));
  context.scale(ratio, ratio);
  context.fillStyle = style.color;
  context.font = "600 13px system-ui, sans-serif";
  context.fillText(title, 8, 16);
  context.font = "12px system-ui, sans-serif";
  lines.forEach((line, row) => {
    const y = 24 + from.height / ratio + LEGEND_ROW * (row + 0.8);
    context.strokeStyle = context.fillStyle = line.style.colour;
    context.setLineDash(line.style.dash);
    context.stroke(new Path2D(`M12 ${y - 4}h28`));
    context.fill(new Path2D(signPath(line.style.sign, 26, y - 4, 3.6)));
    context.fillStyle = style.color;
    context.fillText(legendOf(line), 48, y);
  });
  canvas.toBlob((blob) => blob && save(blob, `${fileName(title)}.png`));
}

/** Save the plot as drawn lines. */
export function saveSvg(title: string, lines: readonly Line[], plot: Plot): void {
  const text = svgOf(title, lines, { x: plot.shownView, y: plot.heights });
  save(new Blob([text], { type: "image/svg+xml" }), `${fileName(title)}.svg`);
}

const SIZE = { width: 720, height: 360, left: 64, right: 14, top: 30, bottom: 34 };

interface Area {
  x: View;
  y: View;
}

/** The lines in a frame with ticks, title and legend. */
export function svgOf(title: string, lines: readonly Line[], area: Area): string {
  const { width, left, right, top, bottom } = SIZE;
  const inner = { width: width - left - right, height: SIZE.height - top - bottom };
  const x = (time: number): number => left + ((time - area.x[0]) / (area.x[1] - area.x[0])) * inner.width;
  const y = (value: number): number => top + inner.height - ((value - area.y[0]) / (area.y[1] - area.y[0])) * inner.height;
  const height = SIZE.height + LEGEND_ROW * lines.length;
  const units = unitsOf(lines.map(({ unit }) => unit));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${left}" y="18" font-weight="600">${escaped(title)} ${escaped(units)}</text>`,
    ...axes(area, x, y),
    `<clipPath id="inside"><rect x="${left}" y="${top}" width="${inner.width}" height="${inner.height}"/></clipPath>`,
    `<g clip-path="url(#inside)" fill="none" stroke-linejoin="round">`,
    ...lines.map((line) => polyline(line, area, x, y)),
    "</g>",
    ...lines.map((line, row) => legend(line, left, SIZE.height + LEGEND_ROW * (row + 0.4))),
    "</svg>",
  ].join("\n");
}

type Scale = (value: number) => number;

function axes(area: Area, x: Scale, y: Scale): string[] {
  const { left, right, top, bottom, width, height } = SIZE;
  const [stepX, stepY] = [niceStep(area.x[1] - area.x[0], 8), niceStep(area.y[1] - area.y[0], 6)];
  const times = ticks(area.x[0], area.x[1], 8);
  const values = ticks(area.y[0], area.y[1], 6);
  return [
    `<g stroke="#e4e7ec">`,
    ...times.map((time) => `<path d="M${round(x(time))} ${top}V${height - bottom}"/>`),
    ...values.map((value) => `<path d="M${left} ${round(y(value))}H${width - right}"/>`),
    "</g>",
    `<g fill="#555" text-anchor="middle">`,
    ...times.map((time) => `<text x="${round(x(time))}" y="${height - bottom + 16}">${tickText(time, stepX)}</text>`),
    "</g>",
    `<g fill="#555" text-anchor="end">`,
    ...values.map((value) => `<text x="${left - 6}" y="${round(y(value) + 4)}">${tickText(value, stepY)}</text>`),
    "</g>",
    `<text x="${width - right}" y="${height - 4}" text-anchor="end" fill="#555">t [s]</text>`,
  ];
}

function polyline({ record, signal, component, style }: Line, area: Area, x: Scale, y: Scale): string {
  const table = record.tableOf(signal, area.x);
  const column = table?.columns.get(signal)?.[component];
  if (!table || !column) return "";
  const count = SIZE.width - SIZE.left - SIZE.right;
  const d = pathOf(thinned(table.t.view(), column, area.x, count), x, y);
  const dash = style.dash.length ? ` stroke-dasharray="${style.dash.join(" ")}"` : "";
  return `<path d="${d}" stroke="${style.colour}" stroke-width="${style.width}"${dash}/>`;
}

/** The path through points; NaN breaks it. */
export function pathOf(points: Points, x: Scale, y: Scale): string {
  let path = "";
  const draw = (pen: "M" | "L") => (time: number, value: number): void => {
    path += `${pen}${round(x(time))} ${round(y(value))}`;
  };
  trace(points, draw("M"), draw("L"));
  return path;
}

function legend(line: Line, x: number, y: number): string {
  const { colour, sign, dash } = line.style;
  return [
    `<path d="M${x} ${y}h28" stroke="${colour}" stroke-width="1.5" stroke-dasharray="${dash.join(" ") || "none"}"/>`,
    `<path d="${signPath(sign, x + 14, y, 3.6)}" fill="${colour}"/>`,
    `<text x="${x + 36}" y="${y + 4}">${escaped(legendOf(line))}</text>`,
  ].join("");
}

function legendOf({ label, unit, order, run }: Line): string {
  return [label, unit && `[${unit}]`, order > 0 && `(${run})`].filter(Boolean).join(" ");
}

function round(value: number): string {
  return String(Number(value.toFixed(2)));
}

/** A name that file systems take. */
export function fileName(title: string): string {
  return title.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60) || "scope";
}

/** Offer a file to the person. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
