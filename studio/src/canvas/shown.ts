// Which blocks and wires of a sheet are elements of the page. The others are drawn on the canvas behind.

import { useStore, useStoreApi } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { useStudio } from "../store";
import type { Box } from "./geometry";
import { isMoving, whenAtRest } from "./moving";
import { blockAt, blocksIn, type Scene, wireNear, wiresIn } from "./scene";

/** Names of blocks, and ids of wires. */
export interface Shown {
  blocks: ReadonlySet<string>;
  wires: ReadonlySet<string>;
}

export interface View {
  x: number;
  y: number;
  zoom: number;
  width: number;
  height: number;
}

/** The zoom below which small texts are left out, and most of a large sheet is drawn on the canvas. */
export const FAR = 0.45;
/** Sheets of at most so many blocks are in the page as a whole. */
export const SMALL = 150;
const NONE: Shown = { blocks: new Set(), wires: new Set() };
/** Elements that are made in one frame, and that are removed in one. */
const [MADE, REMOVED] = [14, 80];
/** Made around what is seen, and how far the view moves until that is looked at again [px of the screen]. */
const [MARGIN, MOVED] = [120, 60];
/** The most selected blocks that are elements whether they are seen or not. */
const CHOSEN = 40;
/** How long a view that is held rests until it is looked at [ms]. */
const RESTS = 200;
/** How near a pointer must come to a wire [px of the screen]. */
const NEAR = 6;

export function isSmall(scene: Scene): boolean {
  return scene.blocks.length <= SMALL;
}

/** What of the sheet a view shows, with a margin around it [px of the screen]. */
export function seenBox({ x, y, zoom, width, height }: View, margin = 0): Box {
  return { x: (-x - margin) / zoom, y: (-y - margin) / zoom, width: (width + 2 * margin) / zoom, height: (height + 2 * margin) / zoom };
}

/** What is in the page when nothing moves: what is seen, where its texts can be read. */
export function wantedIn(scene: Scene, view: View): Shown {
  if (isSmall(scene)) return wholeOf(scene);
  if (view.zoom < FAR) return NONE;
  const box = seenBox(view, MARGIN);
  return {
    blocks: new Set(blocksIn(scene, box).map((k) => scene.blocks[k]!.name)),
    wires: new Set(wiresIn(scene, box).map((k) => scene.wires[k]!.id)),
  };
}

const wholes = new WeakMap<Scene, Shown>();

function wholeOf(scene: Scene): Shown {
  const whole = wholes.get(scene) ?? { blocks: new Set(scene.at.keys()), wires: new Set(scene.wireAt.keys()) };
  wholes.set(scene, whole);
  return whole;
}

/** A step from what is shown to what is wanted, so small that no frame is late; the same object at the end. */
export function nextShown(shown: Shown, wanted: Shown): Shown {
  const blocks = stepped(shown.blocks, wanted.blocks, MADE, REMOVED);
  const left = MADE - (blocks.size > shown.blocks.size ? blocks.size - shown.blocks.size : 0);
  const wires = stepped(shown.wires, wanted.wires, left, REMOVED);
  return blocks === shown.blocks && wires === shown.wires ? shown : { blocks, wires };
}

function stepped(from: ReadonlySet<string>, to: ReadonlySet<string>, made: number, removed: number): ReadonlySet<string> {
  const more = [...to].filter((one) => !from.has(one)).slice(0, made);
  const less = [...from].filter((one) => !to.has(one)).slice(0, removed);
  if (more.length + less.length === 0) return from;
  const next = new Set(from);
  for (const one of more) next.add(one);
  for (const one of less) next.delete(one);
  return next;
}

/** What is in the page wherever it is: what is selected or renamed, and where Tab leads to: the first
 * block, the last one, and those beside the one that was selected last. */
export function pinnedIn(scene: Scene, selection: readonly string[], renaming: string | null): string[] {
  const last = selection.length ? scene.at.get(selection.at(-1)!) : undefined;
  const beside = last === undefined ? [] : [last - 1, last, last + 1];
  const names = [0, ...beside, scene.blocks.length - 1].map((k) => scene.blocks[k]?.name);
  return [...names, ...(selection.length <= CHOSEN ? selection : []), renaming].filter((name) => name != null);
}

/** What is under the pointer: that is in the page, so that it can be clicked, dragged and wired. */
interface Under {
  block: string | null;
  wire: string | null;
}

const NOTHING: Under = { block: null, wire: null };

/** What is in the page. under: called with the pointer's moves over the sheet. */
export function useShown(scene: Scene): { shown: Shown; under: (event: React.PointerEvent) => void } {
  const store = useStoreApi();
  const [around, setAround] = useState(NONE);
  const [under, setUnder] = useState(NOTHING);
  const selection = useStudio((state) => state.selection);
  const wires = useStudio((state) => state.wires);
  const renaming = useStudio((state) => state.renaming);
  useAround(scene, setAround);
  const shown = useMemo((): Shown => {
    if (isSmall(scene)) return wholeOf(scene);
    const pinned = [...pinnedIn(scene, selection, renaming), under.block].filter((name) => name !== null);
    return {
      blocks: new Set([...around.blocks, ...pinned]),
      wires: new Set([...around.wires, ...wires.slice(0, CHOSEN), ...(under.wire ? [under.wire] : [])]),
    };
  }, [scene, around, under, selection, wires, renaming]);
  const look = (event: React.PointerEvent): void => {
    const { transform: [x, y, zoom], domNode, connection } = store.getState();
    if (isSmall(scene) || !domNode || (event.buttons !== 0 && !connection.inProgress)) return;
    const { left, top } = domNode.getBoundingClientRect();
    const at = [(event.clientX - left - x) / zoom, (event.clientY - top - y) / zoom] as const;
    const block = blockAt(scene, [...at])?.name ?? null;
    const wire = block ? null : (wireNear(scene, [...at], NEAR / zoom)?.id ?? null);
    if (block === under.block && wire === under.wire) return;
    // Before the pointer goes down, as the element below it gets the event.
    flushSync(() => setUnder({ block, wire }));
  };
  return { shown, under: look };
}

/** Follows the view: makes elements of what comes into it, some in each frame. */
function useAround(scene: Scene, setAround: (change: (before: Shown) => Shown) => void): void {
  const store = useStoreApi();
  const ready = useStore(({ width }) => width > 0);
  const frame = useRef(0);
  useEffect(() => {
    if (isSmall(scene) || !ready) return;
    let seen: View | null = null;
    let wanted = NONE;
    const step = (): void => {
      frame.current = 0;
      setAround((before) => {
        const next = nextShown(before, wanted);
        if (next !== before) frame.current ||= requestAnimationFrame(step);
        return next;
      });
    };
    const look = (): void => {
      const { transform: [x, y, zoom], width, height } = store.getState();
      const view = { x, y, zoom, width, height };
      if (seen && isLike(seen, view)) return;
      seen = view;
      wanted = wantedIn(scene, view);
      frame.current ||= requestAnimationFrame(step);
    };
    // While the view moves, what is painted is enough; elements are made when it rests.
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      clearTimeout(timer);
      if (isMoving()) timer = setTimeout(look, RESTS);
      else look();
    };
    look();
    const ends = [store.subscribe(soon), whenAtRest(soon)];
    return () => {
      for (const end of ends) end();
      clearTimeout(timer);
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, [scene, ready, store, setAround]);
}

function isLike(a: View, b: View): boolean {
  if (a.zoom !== b.zoom && (a.zoom < FAR) === (b.zoom < FAR) && b.zoom < FAR) return true;
  return a.zoom === b.zoom && a.width === b.width && a.height === b.height && Math.hypot(a.x - b.x, a.y - b.y) < MOVED;
}
