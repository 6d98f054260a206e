// What of a chart is seen.

import { getViewportForBounds, type ReactFlowInstance, type Viewport } from "@xyflow/react";

import type { Chart } from "../protocol";
import { now } from "../store";

export const ZOOM = { least: 0.05, most: 4, fit: 1.5 };
const PADDING = { top: "36px", left: "28px", right: "28px", bottom: "60px" } as const;
/** The zoom below which texts cannot be read: a chart that is longer is shown from its top. */
const READABLE = 0.6;
const seen = new Map<string, Viewport>();
type How = (chart: Chart) => Viewport | null;
/** The view in which the chart was shown last as a whole, or from its top, and which of these. */
let shown: { view: Viewport; how: How } | null = null;

type Flow = Pick<ReactFlowInstance, "setViewport" | "getViewport">;
interface Box { x: number; y: number; width: number; height: number }

function key(): string {
  const { opened, sheet } = now();
  return `${opened?.path}::${sheet?.at}`;
}

export function keepView(viewport: Viewport): void {
  seen.set(key(), viewport);
}

function page(): DOMRect | undefined {
  return document.querySelector(".chart-flow")?.getBoundingClientRect();
}

/** Show a chart as it was left, or all of it, from its top where that is too long to read. */
export function restoreView(flow: Flow, chart: Chart): void {
  const before = seen.get(key());
  if (before) void flow.setViewport(before);
  else show(flow, chart, (all(chart)?.zoom ?? 1) < READABLE ? top : all);
}

export function fitAll(flow: Flow, chart: Chart): void {
  show(flow, chart, all);
}

/** Show the chart in its new room, if it is seen as it was shown. */
export function refit(flow: Flow, chart: Chart): void {
  const { x, y, zoom } = flow.getViewport();
  if (shown && x === shown.view.x && y === shown.view.y && zoom === shown.view.zoom) show(flow, chart, shown.how);
}

function show(flow: Flow, chart: Chart, how: How): void {
  const view = how(chart);
  if (!view) return;
  shown = { view, how };
  void flow.setViewport(view);
}

function all(chart: Chart): Viewport | null {
  return fitted(boxOf(chart));
}

/** A chart from its top, as wide as it can be read. */
function top(chart: Chart): Viewport | null {
  const room = page();
  if (!room) return null;
  const zoom = Math.min(1, Math.max(READABLE, (room.width - 60) / chart.width));
  return { x: Math.max(28, (room.width - chart.width * zoom) / 2), y: 36, zoom };
}

export function fitStates(flow: Flow, chart: Chart, paths: readonly string[]): void {
  const boxes = chart.states.filter(({ path }) => paths.includes(path));
  const view = boxes.length ? fitted(around(boxes)) : null;
  if (view) void flow.setViewport(view);
}

function fitted(box: Box): Viewport | null {
  const room = page();
  if (!room || room.width === 0) return null;
  return getViewportForBounds(box, room.width, room.height, ZOOM.least, ZOOM.fit, PADDING);
}

function boxOf({ width, height, transitions }: Chart): Box {
  const loose = transitions.filter(({ lines }) => lines.length === 0).length;
  return { x: 0, y: 0, width, height: Math.max(height, 60) + (loose ? 24 + 32 * loose : 0) };
}

function around(boxes: readonly Box[]): Box {
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  return { x, y, width: right - x, height: Math.max(...boxes.map((box) => box.y + box.height)) - y };
}

/** Move the view by as little as is needed to show states or transitions. */
export function bringIntoView(flow: Flow, chart: Chart, paths: readonly string[]): void {
  const room = page();
  const boxes: Box[] = chart.states.filter(({ path }) => paths.includes(path));
  for (const { path, lines } of chart.transitions) {
    if (paths.includes(path)) boxes.push(...lines.map(({ start, lane, row, head }) => ({ x: start, y: Math.min(row, head), width: lane - start, height: Math.abs(head - row) })));
  }
  if (!room || boxes.length === 0) return;
  const box = around(boxes);
  const { x, y, zoom } = flow.getViewport();
  const dx = shift(box.x * zoom + x, box.width * zoom, room.width);
  const dy = shift(box.y * zoom + y, box.height * zoom, room.height);
  if (dx || dy) void flow.setViewport({ x: x + dx, y: y + dy, zoom });
}

const MARGIN = 24;

function shift(start: number, size: number, length: number): number {
  if (start < 0) return MARGIN - start;
  return start + size > length ? Math.max(length - MARGIN - size, MARGIN) - start : 0;
}
