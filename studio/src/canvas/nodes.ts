// The sheet as nodes and edges of React Flow.

import { type Edge, type Node, Position } from "@xyflow/react";

import type { Point, Sheet, SheetBlock, SheetWire } from "../protocol";
import { branchDots, wireKey } from "./geometry";

export type BlockNode = Node<{ block: SheetBlock }, "block">;
export type WireEdge = Edge<{ wire: SheetWire; shape: string; dots: readonly Point[] }, "wire">;

/** The nodes of a sheet. Nodes of blocks that have not changed stay the same objects, so that they
 * are not drawn again. */
export function nodesOf(sheet: Sheet, selection: readonly string[], before: readonly BlockNode[]): BlockNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  const selected = new Set(selection);
  return sheet.blocks.map((block) => {
    const same = old.get(block.name);
    const chosen = selected.has(block.name);
    if (same && same.selected === chosen && same.dragging !== true && sameBlock(same, block)) return same;
    return nodeOf(block, chosen);
  });
}

function sameBlock(node: BlockNode, block: SheetBlock): boolean {
  const { x, y } = node.position;
  return x === block.x && y === block.y && JSON.stringify(node.data.block) === JSON.stringify(block);
}

function nodeOf(block: SheetBlock, selected: boolean): BlockNode {
  const { name, x, y, width, height } = block;
  return {
    id: name,
    type: "block",
    position: { x, y },
    width,
    height,
    selected,
    ariaRole: "group",
    ariaLabel: labelOf(block),
    data: { block },
    handles: [
      ...block.inputs.map(({ name: id, offset }) => handle(id, "target", 0, offset)),
      ...block.outputs.map(({ name: id, offset }) => handle(id, "source", width, offset)),
    ],
  };
}

const HANDLE = 10;

function handle(id: string, type: "source" | "target", x: number, y: number) {
  const position = type === "source" ? Position.Right : Position.Left;
  return { id, type, position, x: x - HANDLE / 2, y: y - HANDLE / 2, width: HANDLE, height: HANDLE };
}

function labelOf({ name, type, opens, problems }: SheetBlock): string {
  const faults = problems.length === 0 ? "" : `, ${problems.length} problems`;
  return `${name}, ${type}${opens === null ? "" : ", opens"}${faults}`;
}

export function edgesOf(sheet: Sheet, selected: readonly string[], before: readonly WireEdge[]): WireEdge[] {
  const old = new Map(before.map((edge) => [edge.id, edge]));
  const chosen = new Set(selected);
  const dots = branchDots(sheet.wires);
  const shapes = new Map(
    sheet.blocks.flatMap(({ name, outputs }) => outputs.map((port) => [`${name}.${port.name}`, port.shape])),
  );
  const drawn = new Set<string>();
  return sheet.wires.map((wire) => {
    const id = wireKey(wire);
    const net = `${wire.from.block}.${wire.from.port}`;
    const own = drawn.has(net) ? [] : (dots.get(net) ?? []);
    drawn.add(net);
    const data = { wire, shape: shapes.get(net) ?? "", dots: own };
    const same = old.get(id);
    const selection = chosen.has(id);
    if (same && same.selected === selection && JSON.stringify(same.data) === JSON.stringify(data)) return same;
    return {
      id,
      type: "wire",
      source: wire.from.block,
      sourceHandle: wire.from.port,
      target: wire.to.block,
      targetHandle: wire.to.port,
      selected: selection,
      ariaLabel: `wire from ${wire.source} to ${wire.target}`,
      data,
    };
  });
}
