// Blocks while they are dragged: they snap to others, and a wire that would take one is marked.

import type { NodeChange } from "@xyflow/react";

import type { Point } from "../protocol";
import { now, patch } from "../store";
import { wireUnder } from "./dropping";
import { showGuides } from "./Guides";
import { snapOf } from "./guides";
import type { BlockNode } from "./nodes";
import { blocksIn, sceneOf } from "./scene";
import { seenBox, type View } from "./shown";

const REACH = 6; // px of the screen
/** How far what is dragged is from where the pointer has it. */
let shift: Point = [0, 0];

/** The changes of positions with what is dragged in line with other blocks that are seen. */
export function snapped(changes: NodeChange<BlockNode>[], view: View): NodeChange<BlockNode>[] {
  const { sheet } = now();
  const moving = changes.filter((change) => change.type === "position" && change.dragging && change.position);
  if (!sheet || moving.length === 0) return changes;
  const ids = new Set(moving.map((change) => (change.type === "position" ? change.id : "")));
  const [first] = moving;
  const block = sheet.blocks.find(({ name }) => first?.type === "position" && name === first.id);
  if (first?.type !== "position" || !first.position || !block) return changes;
  const scene = sceneOf(sheet);
  const chosen = new Set(now().selection);
  const others = blocksIn(scene, seenBox(view)).map((k) => scene.blocks[k]!).filter(({ name }) => !ids.has(name) && !(chosen.has(name) && ids.size > 1));
  const found = snapOf({ ...block, ...first.position }, others, REACH / view.zoom);
  shift = found.shift;
  showGuides(found.guides);
  const at: Point = [first.position.x + shift[0], first.position.y + shift[1]];
  const onto = ids.size === 1 && sheet.within !== null ? (wireUnder(sheet, block, at)?.id ?? null) : null;
  if (onto !== now().onto) patch({ onto });
  return changes.map((change) => (change.type === "position" && change.position && ids.has(change.id)
    ? { ...change, position: { x: change.position.x + shift[0], y: change.position.y + shift[1] } } : change));
}

/** The dragged blocks where they were seen last; nothing is dragged from then on. */
export function endDrag(moved: readonly BlockNode[]): BlockNode[] {
  const [dx, dy] = shift;
  shift = [0, 0];
  showGuides([]);
  if (now().onto !== null) patch({ onto: null });
  return moved.map((node) => ({ ...node, position: { x: node.position.x + dx, y: node.position.y + dy } }));
}
