// What of a sheet is seen: all of it at first, and what was seen before when one comes back.

import { getViewportForBounds, type ReactFlowInstance, type Viewport } from "@xyflow/react";

import type { Sheet } from "../protocol";
import { now } from "../store";
import { areaBoxes, noteBox } from "./annotations";
import { boundsOf, boxesOf, type Box } from "./geometry";

export const ZOOM = { least: 0.02, most: 4, fit: 1.5 };
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
  const more = sheet ? [...areaBoxes(sheet), ...sheet.notes.map(noteBox)] : [];
  whole = show(flow, boundsOf([...(sheet?.blocks ?? []), ...more], sheet?.wires));
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

/** Bring blocks into view: by as little as is needed, and into the middle from afar. */
export function bringIntoView(flow: Flow, names: readonly string[]): void {
  const box = boundsOf(boxesOf(now().sheet?.blocks ?? [], names));
  const page = sizeOfPage();
  if (!box || !page) return;
  const view = flow.getViewport();
  const { x, y, zoom } = view;
  if (zoom > 0.4 && isSeen(box, view, page)) {
    const dx = shiftInto(box.x * zoom + x, box.width * zoom, page.width);
    const dy = shiftInto(box.y * zoom + y, box.height * zoom, page.height);
    if (dx || dy) void flow.setViewport({ x: x + dx, y: y + dy, zoom });
    return;
  }
  const to = Math.max(zoom, 0.8);
  const middle = [box.x + box.width / 2, box.y + box.height / 2] as const;
  void flow.setViewport({ x: page.width / 2 - middle[0] * to, y: page.height / 2 - middle[1] * to, zoom: to });
}

const MARGIN = 24;

/** How far a stretch is moved so that it lies within a length. */
function shiftInto(start: number, size: number, length: number): number {
  if (start < 0) return MARGIN - start;
  return start + size > length ? Math.max(length - MARGIN - size, MARGIN) - start : 0;
}

/** Whether any part of a box is in view. */
function isSeen({ x, y, width, height }: Box, view: Viewport, page: { width: number; height: number }): boolean {
  const [left, top] = [x * view.zoom + view.x, y * view.zoom + view.y];
  return left < page.width && top < page.height && left + width * view.zoom > 0 && top + height * view.zoom > 0;
}

/** The sheet as it was looked at last for blocks that have grown. */
let before: Sheet | null = null;

/** Bring selected blocks into view that have grown, as while their form is filled in. */
export function seeGrown(flow: Flow): void {
  const { sheet, selection } = now();
  const old = sheet?.at === before?.at ? boxesOf(before?.blocks ?? [], selection) : [];
  const grown = boxesOf(sheet?.blocks ?? [], selection).filter(({ name, width, height }) =>
    old.some((one) => one.name === name && (width > one.width || height > one.height)));
  before = sheet;
  if (grown.length && flow.getViewport().zoom > 0.4) bringIntoView(flow, grown.map(({ name }) => name));
}

/** Show all of the sheet, if a change has left nothing of it in view. */
export function seeSomething(flow: Flow): void {
  const box = boundsOf(now().sheet?.blocks ?? []);
  const page = sizeOfPage();
  if (box && page && !isSeen(box, flow.getViewport(), page)) fitAll(flow);
}

function sizeOfPage(): DOMRect | undefined {
  return document.querySelector(".react-flow")?.getBoundingClientRect();
}

function show(flow: Flow, box: Box | null): Viewport | null {
  const page = sizeOfPage();
  if (!box || !page || page.width === 0) return null;
  const viewport = getViewportForBounds(box, page.width, page.height, ZOOM.least, ZOOM.fit, PADDING);
  void flow.setViewport(viewport);
  return viewport;
}
