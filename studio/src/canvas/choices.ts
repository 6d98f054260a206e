// Types of blocks as choices of a list, and where a block goes that is added without a place.

import type { ReactFlowInstance } from "@xyflow/react";

import type { Choice } from "../app/Chooser";
import type { BlockType, Point } from "../protocol";
import { now } from "../store";
import { boxesOf } from "./geometry";

const GAP = 60;

export function choiceOf(type: BlockType): Choice<BlockType> {
  const { name, summary, elsewhere, subject } = type;
  return { key: `${subject}/${name}`, thing: type, name, note: summary, words: [...elsewhere, summary, subject] };
}

/** Where a block goes that is added without a place: right of the selected one, else into the middle
 * of what is seen of the sheet. */
export function placeFor(flow: Pick<ReactFlowInstance, "screenToFlowPosition">): Point {
  const { sheet, selection } = now();
  const [beside, ...others] = boxesOf(sheet?.blocks ?? [], selection);
  if (beside && others.length === 0) return [beside.x + beside.width + GAP, beside.y];
  const box = document.querySelector(".sheet")?.getBoundingClientRect();
  if (!box) return [0, 0];
  const { x, y } = flow.screenToFlowPosition({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
  return [x, y];
}
