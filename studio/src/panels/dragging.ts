// Dragging a tab: to another group, beside it, to the right of the sheet, or out of the page.

import { type Panel, now } from "../store";
import type { Side } from "./layout";
import { type Place, placeOf, setPlace } from "./moves";
import { type Box, type Found, type Target, targetAt } from "./targets";
import { popOut } from "./windows";

const FAR = 6; // pixels, from which on it is a drag

interface From {
  clientX: number;
  clientY: number;
  pointerId: number;
}

/** Follow the pointer from where a tab was pressed. */
export function follow(tab: HTMLElement, panel: Panel, from: From): void {
  const mark = document.createElement("div");
  mark.className = "panel-target";
  let found: Found | null = null;
  let dragged = false;
  const end = new AbortController();
  const { signal } = end;
  const move = ({ clientX: x, clientY: y, buttons }: PointerEvent): void => {
    if (buttons === 0) return stop();
    if (!dragged && Math.hypot(x - from.clientX, y - from.clientY) < FAR) return;
    if (!dragged) tab.setPointerCapture(from.pointerId);
    dragged = true;
    found = targetAt(x, y, groupsNow(), boxOf(document.querySelector(".sheet")!));
    show(mark, found);
  };
  const drop = ({ clientX: x, clientY: y }: PointerEvent): void => {
    stop();
    if (!dragged) return;
    const outside = x < 0 || y < 0 || x > innerWidth || y > innerHeight;
    if (outside) popOut(panel);
    else if (found && !isSame(panel, found.place)) setPlace(panel, found.place);
  };
  const stop = (): void => {
    end.abort();
    mark.remove();
  };
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", drop, { signal });
  addEventListener("pointercancel", stop, { signal });
  addEventListener("keydown", ({ key }) => key === "Escape" && stop(), { signal });
}

/** Whether a panel is alone there already. */
function isSame(panel: Panel, { side, at, how }: Place): boolean {
  const place = placeOf(now().layout, panel);
  return place?.side === side && place.at === at && (how === "into" || place.group.tabs.length === 1);
}

function groupsNow(): Target[] {
  return [...document.querySelectorAll<HTMLElement>("[data-group]")].map((group) => {
    const [side, at] = group.dataset["group"]!.split(" ");
    return { ...boxOf(group), side: side as Side, at: Number(at) };
  });
}

function boxOf(element: Element): Box {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { left, top, width, height };
}

function show(mark: HTMLElement, found: Found | null): void {
  if (!found) return mark.remove();
  for (const [name, length] of Object.entries(found.box)) mark.style.setProperty(name, `${length}px`);
  document.body.append(mark);
}
