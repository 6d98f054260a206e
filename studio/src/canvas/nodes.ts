// The part of a sheet that is in the page, as nodes and edges of React Flow.

import type { Edge, Node } from "@xyflow/react";

import type { SheetBlock, SheetPort } from "../protocol";
import { portPlace, sideOf } from "./facing";
import type { Scene, WireShape } from "./scene";

export type BlockNode = Node<{ block: SheetBlock }, "block">;
export type WireEdge = Edge<WireShape & Record<string, unknown>, "wire">;

/** The nodes of blocks by name, in the order of the sheet; those at the ends of edges alone are hidden. A
 * node of a block that has not changed stays the same object, and where it was moved to. */
export function nodesOf(
  scene: Scene, names: ReadonlySet<string>, edges: readonly WireEdge[], selection: readonly string[], before: readonly BlockNode[],
): BlockNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  const selected = new Set(selection);
  const ends = new Set(edges.flatMap(({ source, target }) => [source, target]));
  return inOrder(scene.at, names, ends).map((name) => {
    const block = scene.blocks[scene.at.get(name)!]!;
    const [chosen, hidden] = [selected.has(name), !names.has(name)];
    const known = old.get(name);
    if (known?.data.block !== block) return nodeOf(block, chosen, hidden);
    return known.selected === chosen && known.hidden === hidden ? known : { ...known, selected: chosen, hidden };
  });
}

function inOrder(at: ReadonlyMap<string, number>, ...names: ReadonlySet<string>[]): string[] {
  const all = new Set(names.flatMap((some) => [...some]).filter((name) => at.has(name)));
  return [...all].sort((a, b) => at.get(a)! - at.get(b)!);
}

function nodeOf(block: SheetBlock, selected: boolean, hidden: boolean): BlockNode {
  const { name, x, y, width, height } = block;
  return {
    id: name,
    type: "block",
    position: { x, y },
    width,
    height,
    selected,
    hidden,
    ariaRole: "group",
    ariaLabel: labelOf(block),
    data: { block },
    handles: [
      ...block.inputs.map((port) => handle(block, port, false)),
      ...block.outputs.map((port) => handle(block, port, true)),
    ],
  };
}

const HANDLE = 10;

function handle(block: SheetBlock, { name, offset }: SheetPort, output: boolean) {
  const [x, y] = portPlace(block, offset, output);
  const [type, position] = [output ? "source" as const : "target" as const, sideOf(block.facing, output)];
  return { id: name, type, position, x: x - HANDLE / 2, y: y - HANDLE / 2, width: HANDLE, height: HANDLE };
}

function labelOf({ name, type, opens, problems }: SheetBlock): string {
  const faults = problems.length === 0 ? "" : `, ${problems.length} problems`;
  return `${name}, ${type}${opens === null ? "" : ", opens"}${faults}`;
}

/** The edges of wires by their ids, in the order of the sheet. */
export function edgesOf(scene: Scene, ids: ReadonlySet<string>, selected: readonly string[], before: readonly WireEdge[]): WireEdge[] {
  const old = new Map(before.map((edge) => [edge.id, edge]));
  const chosen = new Set(selected);
  return inOrder(scene.wireAt, ids).map((id) => {
    const shape = scene.wires[scene.wireAt.get(id)!]!;
    const known = old.get(id);
    const selection = chosen.has(id);
    if (known?.selected === selection && isSame(known.data!, shape)) return known;
    const { wire } = shape;
    return {
      id,
      type: "wire",
      source: wire.from.block,
      sourceHandle: wire.from.port,
      target: wire.to.block,
      targetHandle: wire.to.port,
      selected: selection,
      ariaLabel: `wire from ${wire.source} to ${wire.target}`,
      data: { ...shape },
    };
  });
}

function isSame(a: WireShape, b: WireShape): boolean {
  return a.wire === b.wire && a.shape === b.shape && a.dots.join() === b.dots.join();
}
