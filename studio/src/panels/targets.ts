// Where a panel goes whose tab is dropped.

import type { Side } from "./layout";
import type { Place } from "./moves";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Target extends Box {
  side: Side;
  at: number;
}

export interface Found {
  place: Place;
  /** The part of the page that it gets. */
  box: Box;
}

/** Where a panel goes that is dropped at a point. sheet: that of the diagram. */
export function targetAt(x: number, y: number, groups: readonly Target[], sheet: Box): Found | null {
  for (const { side, at, ...box } of groups) {
    if (!isIn(x, y, box)) continue;
    const share = side === "bottom" ? (x - box.left) / box.width : (y - box.top) / box.height;
    const how = share < 0.25 ? "before" : share > 0.75 ? "after" : "into";
    return { place: { side, at, how }, box: partOf(box, side === "bottom", how) };
  }
  if (!isIn(x, y, sheet)) return null;
  const last = (side: Side): number => Math.max(-1, ...groups.filter((one) => one.side === side).map(({ at }) => at));
  const side: Side = x > sheet.left + 0.6 * sheet.width ? "right" : "bottom";
  return { place: { side, at: last(side), how: "after" }, box: partOf(sheet, side === "right", "after") };
}

function isIn(x: number, y: number, { left, top, width, height }: Box): boolean {
  return x >= left && x < left + width && y >= top && y < top + height;
}

function partOf({ left, top, width, height }: Box, across: boolean, how: Place["how"]): Box {
  if (how === "into") return { left, top, width, height };
  const [wide, high] = across ? [width / 2, height] : [width, height / 2];
  return how === "before" ? { left, top, width: wide, height: high } : { left: left + width - wide, top: top + height - high, width: wide, height: high };
}
