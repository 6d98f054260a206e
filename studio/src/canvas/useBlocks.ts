// The blocks and wires as React Flow has them: as served, and elsewhere while they are moved.

import { applyNodeChanges, type NodeChange, useStoreApi } from "@xyflow/react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Point, SheetBlock } from "../protocol";
import { now, patch, useStudio } from "../store";
import { endDrag, snapped } from "./dragging";
import { putDown } from "./dropping";
import { edgesOf, nodesOf, type BlockNode as Block, type WireEdge as Wire } from "./nodes";
import type { Shifted } from "./paint";
import { blocksIn, type Scene, sceneOf } from "./scene";
import { isSmall, type Shown } from "./shown";

/** How far blocks are from their places. */
type Moved = ReadonlyMap<string, Point>;
type Store = ReturnType<typeof useStoreApi<Block, Wire>>;

const NONE: Moved = new Map();
const SETTLED = 400;

export function useBlocks(scene: Scene, shown: Shown) {
  const selection = useStudio((state) => state.selection);
  const wires = useStudio((state) => state.wires);
  const known = useRef<Wire[]>([]);
  const edges = useMemo(() => (known.current = edgesOf(scene, shown.wires, wires, known.current)), [scene, shown.wires, wires]);
  const [nodes, setNodes] = useState<Block[]>([]);
  const [carried, carry] = useCarried(scene);
  const store = useStoreApi<Block, Wire>();
  // Before anything is painted, as the canvas leaves out what is an element.
  useLayoutEffect(() => {
    setNodes((before) => nodesOf(scene, shown.blocks, edges, selection, before));
  }, [scene, shown.blocks, edges, selection]);
  useBoxSelection(scene, store);
  const onNodesChange = useCallback((changes: NodeChange<Block>[]) => {
    const others = changes.filter((change) => change.type !== "select");
    if (others.length < changes.length) select(changes, store);
    if (others.length === 0) return;
    const { transform: [x, y, zoom], width, height } = store.getState();
    const placed = snapped(others, { x, y, zoom, width, height });
    setNodes((before) => applyNodeChanges(placed, before));
    for (const change of placed) {
      if (change.type === "position" && change.dragging && change.position) return carry(carriedAlong(change.id, change.position, store));
    }
  }, [store, carry]);
  const putBack = useCallback(async (moved: readonly Block[], along: Moved, byHand = false) => {
    const places = moved.map(({ id, position: { x, y } }): [string, Point] => [id, [x, y]]);
    for (const [name, [dx, dy]] of along) {
      const block = blockOf(name);
      if (block) places.push([name, [block.x + dx, block.y + dy]]);
    }
    if (await putDown(Object.fromEntries(places.map(([name, [x, y]]) => [name, [Math.round(x), Math.round(y)]])), byHand)) return;
    carry(NONE);
    setNodes(nodesOf(sceneOf(now().sheet), shown.blocks, known.current, now().selection, []));
  }, [shown.blocks, carry]);
  const nudge = useNudge(setNodes, carried, carry, putBack);
  const what = useShifted(nodes, carried.current, shown);
  const dropped = useCallback((moved: readonly Block[]) => void putBack(endDrag(moved), carried.current, true), [putBack, carried]);
  return { nodes, edges, onNodesChange, dropped, nudge, what };
}

function blockOf(name: string): SheetBlock | undefined {
  const scene = sceneOf(now().sheet);
  return scene.blocks[scene.at.get(name) ?? -1];
}

/** Selected blocks that are no elements, which move along with those that are; at rest in a new scene. */
function useCarried(scene: Scene): [{ readonly current: Moved }, (moved: Moved) => void] {
  const carried = useRef(NONE);
  const [, redraw] = useState(NONE);
  const carry = useCallback((moved: Moved) => {
    carried.current = moved;
    redraw(moved);
  }, []);
  useEffect(() => carry(NONE), [scene, carry]);
  return [carried, carry];
}

function carriedAlong(id: string, { x, y }: { x: number; y: number }, store: Store): Moved {
  const block = blockOf(id);
  const { nodeLookup } = store.getState();
  const others = now().selection.filter((name) => !nodeLookup.has(name));
  return block && others.length ? new Map(others.map((name) => [name, [x - block.x, y - block.y]])) : NONE;
}

/** Moves the selected blocks at once, and tells the server when the keys rest. */
function useNudge(
  setNodes: (change: (before: Block[]) => Block[]) => void, carried: { readonly current: Moved },
  carry: (moved: Moved) => void, putBack: (moved: Block[], along: Moved) => Promise<void>,
) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return useCallback((dx: number, dy: number, names: readonly string[] = now().selection) => {
    const chosen = new Set(names);
    if (chosen.size === 0) return;
    setNodes((before) => {
      const after = before.map((node) => {
        if (!chosen.has(node.id)) return node;
        const { x, y } = node.position;
        return { ...node, position: { x: x + dx, y: y + dy } };
      });
      const others = [...chosen].filter((name) => !before.some(({ id }) => id === name));
      const along = new Map(others.map((name): [string, Point] => {
        const [x, y] = carried.current.get(name) ?? [0, 0];
        return [name, [x + dx, y + dy]];
      }));
      queueMicrotask(() => carry(along));
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void putBack(after.filter(({ id }) => chosen.has(id)), along), SETTLED);
      return after;
    });
  }, [setNodes, carried, carry, putBack]);
}

/** What the canvas behind paints elsewhere, marks, and leaves out. */
function useShifted(nodes: readonly Block[], carried: Moved, absent: Shown): Shifted {
  const selection = useStudio((state) => state.selection);
  const wires = useStudio((state) => state.wires);
  const selected = useMemo(() => new Set(selection), [selection]);
  const chosen = useMemo(() => new Set(wires), [wires]);
  const moved = useMemo(() => {
    const found = new Map(carried);
    for (const { id, position: { x, y }, data: { block } } of nodes) {
      if (x !== block.x || y !== block.y) found.set(id, [x - block.x, y - block.y]);
    }
    return found.size ? found : NONE;
  }, [nodes, carried]);
  return useMemo(() => ({ selected, chosen, moved, absent }), [selected, chosen, moved, absent]);
}

// --- selection -------------------------------------------------------------------------------

/** Blocks that are no elements are not known to React Flow: a click without a key deselects them too. */
function select(changes: readonly NodeChange<Block>[], store: Store): void {
  const { multiSelectionActive, nodeLookup } = store.getState();
  const chosen = new Set(now().selection.filter((name) => multiSelectionActive || nodeLookup.has(name)));
  for (const change of changes) {
    if (change.type !== "select") continue;
    if (change.selected) chosen.add(change.id);
    else chosen.delete(change.id);
  }
  patch({ selection: [...chosen], wires: [], ...(chosen.size ? { marks: [] } : {}) });
}

/** Selects what a box touches on a large sheet, of which React Flow knows only the elements. */
function useBoxSelection(scene: Scene, store: Store): void {
  useEffect(() => {
    if (isSmall(scene)) return;
    return store.subscribe(({ userSelectionActive, userSelectionRect: rect, transform: [x, y, zoom] }, before) => {
      if (!userSelectionActive || !rect || rect === before.userSelectionRect) return;
      const box = { x: (rect.x - x) / zoom, y: (rect.y - y) / zoom, width: rect.width / zoom, height: rect.height / zoom };
      const names = blocksIn(scene, box).map((k) => scene.blocks[k]!.name);
      if (names.join() !== now().selection.join()) patch({ selection: names, wires: [] });
    });
  }, [scene, store]);
}
