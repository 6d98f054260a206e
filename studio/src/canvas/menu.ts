// Where the menu of commands opens, and what it is about: what is below the pointer is selected first.

import type { PointerEvent } from "react";

import { now, patch } from "../store";

const [STILL, LONG] = [5, 550];

let pressed: { x: number; y: number; timer?: ReturnType<typeof setTimeout> } | null = null;

function stop(): void {
  clearTimeout(pressed?.timer);
  pressed = null;
}

/** A right click that does not pan, and a long touch, open the menu. */
export const menuHandlers = {
  onPointerDownCapture(event: PointerEvent): void {
    stop();
    const { clientX: x, clientY: y, target } = event;
    if (event.pointerType === "touch") {
      if (!event.isPrimary) return; // two fingers zoom
      const timer = setTimeout(() => { stop(); openAt(target as Element, x, y); }, LONG);
      pressed = { x, y, timer };
    } else if (event.button === 2) pressed = { x, y };
  },
  onPointerMoveCapture(event: PointerEvent): void {
    if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > STILL) stop();
  },
  onPointerUpCapture(event: PointerEvent): void {
    const open = pressed && event.pointerType !== "touch" && event.button === 2;
    stop();
    if (open) openAt(event.target as Element, event.clientX, event.clientY);
  },
  onPointerCancelCapture: stop,
  onContextMenu(event: React.MouseEvent): void {
    if (!(event.target as Element).closest("input, textarea")) event.preventDefault();
  },
};

/** Select what is at a place, unless it is selected, and open the menu there. */
function openAt(target: Element, x: number, y: number): void {
  if (!target.closest(".react-flow") || target.closest("input, textarea")) return;
  const { selection, wires, marks } = now();
  const nothing = { selection: [], wires: [], marks: [] } as const;
  const block = target.closest(".react-flow__node")?.getAttribute("data-id");
  const wire = target.closest(".react-flow__edge")?.getAttribute("data-id");
  const mark = target.closest("[data-mark]")?.getAttribute("data-mark");
  if (mark) patch(marks.includes(mark) ? {} : { ...nothing, marks: [mark] });
  else if (block) patch(selection.includes(block) ? {} : { ...nothing, selection: [block] });
  else if (wire) patch(wires.includes(wire) ? {} : { ...nothing, wires: [wire] });
  else patch(nothing);
  last = { x, y };
  patch({ menu: { x, y }, hover: null });
}

let last: { x: number; y: number } | null = null;

/** Where the menu was opened last, for what is added by it; once. */
export function noteAt(): { x: number; y: number } | null {
  const at = last;
  last = null;
  return at;
}

/** Open the menu beside what is selected, else in the middle of the sheet. */
export function openMenu(): void {
  const { selection, wires, marks } = now();
  const name = (text: string): string => `"${CSS.escape(text)}"`;
  const found = selection.length ? document.querySelector(`.react-flow__node[data-id=${name(selection[0]!)}]`)
    : wires.length ? document.querySelector(`.react-flow__edge[data-id=${name(wires[0]!)}]`)
    : marks.length ? document.querySelector(`[data-mark="${marks[0]!}"]`) : null;
  const box = (found ?? document.querySelector(".sheet"))?.getBoundingClientRect();
  if (box) patch({ menu: found ? { x: box.x + box.width / 2, y: box.bottom } : { x: box.x + box.width / 2, y: box.y + box.height / 3 }, hover: null });
}
