// One plot on a canvas: axes, and lines thinned to what its pixels can show.

import { niceStep, ticks, tickText } from "./numbers";
import type { Series } from "./recording";

export const COLOURS = ["#3b82c4", "#e0803a", "#3f9d57", "#d1495b", "#8a63d2", "#2aa1b3", "#b5832e", "#c05fa6"];
export const MARGIN = { left: 52, right: 10, top: 8, bottom: 20 };

export interface Area {
  width: number;
  height: number;
  /** Times at the left and right edge, values at the lower and upper one. */
  x: [number, number];
  y: [number, number];
}

/** The column of a canvas where a time is. */
export function xOf({ width, x }: Area, time: number): number {
  const inner = width - MARGIN.left - MARGIN.right;
  return MARGIN.left + (x[1] > x[0] ? (time - x[0]) / (x[1] - x[0]) : 0.5) * inner;
}

/** The row of a canvas where a value is. */
export function yOf({ height, y }: Area, value: number): number {
  const inner = height - MARGIN.top - MARGIN.bottom;
  return height - MARGIN.bottom - ((value - y[0]) / (y[1] - y[0])) * inner;
}

/** The time at a column of a canvas. */
export function timeOf({ width, x }: Area, column: number): number {
  const inner = Math.max(width - MARGIN.left - MARGIN.right, 1);
  return x[0] + ((column - MARGIN.left) / inner) * (x[1] - x[0]);
}

/** The range of some series, a little widened; never empty. */
export function rangeOf(all: readonly Series[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of all) {
    for (const value of values) {
      if (Number.isFinite(value)) {
        low = value < low ? value : low;
        high = value > high ? value : high;
      }
    }
  }
  if (low > high) {
    return [-1, 1];
  }
  const least = 1e-9 * Math.max(Math.abs(low), Math.abs(high)) || 1;
  const pad = high - low > least ? 0.06 * (high - low) : Math.max(0.5 * Math.abs(high), least);
  return [low - pad, high + pad];
}

/** The rows of a column that a line needs at a resolution of `count` columns over x: of each
 * canvas column the first, the lowest, the highest and the last row. */
export function thinned(series: Series, column: number, x: readonly [number, number], count: number): number[] {
  const { t, columns, values } = series;
  if (t.length <= 4 * count) {
    return Array.from(t, (_, row) => row);
  }
  const rows: number[] = [];
  const wide = (x[1] - x[0]) / count || 1;
  for (let row = 0; row < t.length; ) {
    const cell = Math.floor((t[row]! - x[0]) / wide);
    const first = row;
    let [low, high] = [row, row];
    for (; row < t.length && Math.floor((t[row]! - x[0]) / wide) === cell; row++) {
      const value = values[row * columns + column]!;
      low = value < values[low * columns + column]! ? row : low;
      high = value > values[high * columns + column]! ? row : high;
    }
    rows.push(...new Set([first, Math.min(low, high), Math.max(low, high), row - 1]));
  }
  return rows;
}

/** Give a canvas as many pixels as the screen has there. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): void {
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
}

/** What draws on a canvas, in the page's pixels. */
export function scaled(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d")!;
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return context;
}

/** The colours of axes within an element. */
export function coloursOf(element: Element): { grid: string; text: string } {
  const style = getComputedStyle(element);
  return { grid: style.getPropertyValue("--grid"), text: style.getPropertyValue("--muted") };
}

const FAINT = 0.25;

/** Draw axes and lines. colours: of grid and text. past: earlier lines of the same signals, which
 * are drawn faint, below. */
export function drawPlot(
  context: CanvasRenderingContext2D,
  area: Area,
  all: readonly Series[],
  colours: { grid: string; text: string },
  past: readonly (readonly Series[])[] = [],
): void {
  context.clearRect(0, 0, area.width, area.height);
  drawAxes(context, area, colours);
  context.save();
  context.beginPath();
  context.rect(MARGIN.left, MARGIN.top - 2, area.width - MARGIN.left - MARGIN.right, area.height - MARGIN.top - MARGIN.bottom + 4);
  context.clip();
  context.globalAlpha = FAINT;
  past.forEach((lines) => drawLines(context, area, lines));
  context.globalAlpha = 1;
  drawLines(context, area, all);
  context.restore();
}

function drawLines(context: CanvasRenderingContext2D, area: Area, all: readonly Series[]): void {
  let line = 0;
  for (const series of all) {
    for (let column = 0; column < series.columns; column++) {
      drawLine(context, area, series, column, COLOURS[line++ % COLOURS.length]!);
    }
  }
}

function drawAxes(context: CanvasRenderingContext2D, area: Area, { grid, text }: { grid: string; text: string }): void {
  const right = area.width - MARGIN.right;
  const bottom = area.height - MARGIN.bottom;
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 1;
  context.strokeStyle = grid;
  context.fillStyle = text;
  context.beginPath();
  const down = Math.max(2, Math.floor((bottom - MARGIN.top) / 24));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of ticks(area.y[0], area.y[1], down)) {
    const y = Math.round(yOf(area, value)) + 0.5;
    context.moveTo(MARGIN.left, y);
    context.lineTo(right, y);
    context.fillText(tickText(value, niceStep(area.y[1] - area.y[0], down)), MARGIN.left - 6, y);
  }
  const across = Math.max(2, Math.floor((right - MARGIN.left) / 70));
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const time of ticks(area.x[0], area.x[1], across)) {
    const x = Math.round(xOf(area, time)) + 0.5;
    context.moveTo(x, MARGIN.top);
    context.lineTo(x, bottom);
    context.fillText(tickText(time, niceStep(area.x[1] - area.x[0], across)), x, bottom + 5);
  }
  context.stroke();
}

function drawLine(context: CanvasRenderingContext2D, area: Area, series: Series, column: number, colour: string): void {
  const { t, columns, values } = series;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.beginPath();
  let joined = false;
  for (const row of thinned(series, column, area.x, area.width)) {
    const value = values[row * columns + column]!;
    if (Number.isFinite(value)) {
      const [x, y] = [xOf(area, t[row]!), yOf(area, value)];
      if (joined) {
        context.lineTo(x, y);
      } else {
        context.moveTo(x, y);
      }
      if (t.length === 1) {
        context.moveTo(MARGIN.left, y); // a value that holds
        context.lineTo(area.width, y);
      }
    }
    joined = Number.isFinite(value);
  }
  context.stroke();
}
