// The sheet: blocks and wires to look at and to work on.

import { applyNodeChanges, type NodeChange, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import { useEffect, useState } from "react";

import { showSheet } from "../actions";
import { patch, useStudio } from "../store";
import { BlockNode } from "./BlockNode";
import { edgesOf, nodesOf, type BlockNode as Block, type WireEdge as Wire } from "./nodes";
import { WireEdge } from "./WireEdge";

const NODE_TYPES = { block: BlockNode };
const EDGE_TYPES = { wire: WireEdge };

export function Canvas() {
  return (
    <ReactFlowProvider>
      <Flow />
    </ReactFlowProvider>
  );
}

function Flow() {
  const sheet = useStudio((state) => state.sheet);
  const selection = useStudio((state) => state.selection);
  const wires = useStudio((state) => state.wires);
  const [nodes, setNodes] = useState<Block[]>([]);
  const [edges, setEdges] = useState<Wire[]>([]);
  useEffect(() => {
    if (sheet) setNodes((before) => nodesOf(sheet, selection, before));
  }, [sheet, selection]);
  useEffect(() => {
    if (sheet) setEdges((before) => edgesOf(sheet, wires, before));
  }, [sheet, wires]);
  const onNodesChange = (changes: NodeChange<Block>[]): void => {
    setNodes((before) => applyNodeChanges(changes, before));
    const chosen = changes.filter((one) => one.type === "select");
    if (chosen.length) patch({ selection: nodes.filter(({ id, selected }) => {
      const change = chosen.find((one) => one.id === id);
      return change ? change.selected : selected;
    }).map(({ id }) => id) });
  };
  return (
    <ReactFlow nodes={nodes} edges={edges} nodeTypes={NODE_TYPES} edgeTypes={EDGE_TYPES}
      onNodesChange={onNodesChange} onNodeDoubleClick={(_, { data }) => data.block.opens !== null && void showSheet(data.block.opens)}
      colorMode="system" fitView minZoom={0.05} maxZoom={4} zoomOnDoubleClick={false} proOptions={{ hideAttribution: true }} />
  );
}
