// What of a sheet is seen: all of it at first, and what was seen before when one comes back.

import { getViewportForBounds, type ReactFlowInstance, type Viewport } from "@xyflow/react";

import { now } from "../store";
import { boundsOf, boxesOf, type Box } from "./geometry";

export const ZOOM = { least: 0.05, most: 4, fit: 1.5 };
// Room for the buttons over the sheet.
const PADDING = { top: "28px", left: "32px", right: "32px", bottom: "60px" } as const;
const seen = new Map<string, Viewport>();
/** The view in which all of the sheet was shown last. */
let whole: Viewport | null = null;

type Flow = Pick<ReactFlowInstance, "setViewport" | "getViewport">;

function key(): string | null {
  const { opened, sheet } = now();
  return opened && sheet ? `${opened.path}::${sheet.at}` : null;
}

/** Remember what is seen of the present sheet. */
export function keepView(viewport: Viewport): void {
  const name = key();
  if (name) seen.set(name, viewport);
}

/** Show a sheet as it was left, or all of it. */
export function restoreView(flow: Flow): void {
  const before = seen.get(key() ?? "");
  if (before) void flow.setViewport(before);
  else fitAll(flow);
}

export function fitAll(flow: Flow): void {
  const { sheet } = now();
  whole = show(flow, boundsOf(sheet?.blocks ?? [], sheet?.wires));
}

/** Show all of the sheet in its new room, if all of it was shown before. */
export function refit(flow: Flow): void {
  const { x, y, zoom } = flow.getViewport();
  if (whole && x === whole.x && y === whole.y && zoom === whole.zoom) fitAll(flow);
}

export function fitSelected(flow: Flow): void {
  const { sheet, selection } = now();
  show(flow, boundsOf(boxesOf(sheet?.blocks ?? [], selection)));
}

/** Bring blocks into view, if they are not in it. */
export function bringIntoView(flow: Flow, names: readonly string[]): void {
  const box = boundsOf(boxesOf(now().sheet?.blocks ?? [], names));
  const page = document.querySelector(".react-flow")?.getBoundingClientRect();
  if (!box || !page) return;
  const { x, y, zoom } = flow.getViewport();
  const [left, top] = [box.x * zoom + x, box.y * zoom + y];
  const isSeen = left >= 0 && top >= 0 && left + box.width * zoom <= page.width && top + box.height * zoom <= page.height;
  if (isSeen && zoom > 0.4) return;
  const to = Math.max(zoom, 0.8);
  const middle = [box.x + box.width / 2, box.y + box.height / 2] as const;
  void flow.setViewport({ x: page.width / 2 - middle[0] * to, y: page.height / 2 - middle[1] * to, zoom: to });
}

function show(flow: Flow, box: Box | null): Viewport | null {
  const page = document.querySelector(".react-flow")?.getBoundingClientRect();
  if (!box || !page || page.width === 0) return null;
  const viewport = getViewportForBounds(box, page.width, page.height, ZOOM.least, ZOOM.fit, PADDING);
  void flow.setViewport(viewport);
  return viewport;
}
