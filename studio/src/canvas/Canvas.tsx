// The sheet: blocks and wires to look at and to work on.

import {
  type Connection as Joined, type FinalConnectionState, type OnConnectStartParams, ConnectionLineType, ReactFlow, SelectionMode, useReactFlow, useStore,
} from "@xyflow/react";
import { type DragEvent, type FocusEvent, lazy, type MouseEvent, Suspense, useEffect, useMemo } from "react";

import { edit, notify, showSheet } from "../actions";
import { useCommands } from "../app/keys";
import type { Operation, SheetBlock } from "../protocol";
import { now, patch, useStudio } from "../store";
import { addableHere, addBlock, addInto } from "./adding";
import { Annotations } from "./Annotations";
import { Backdrop } from "./Backdrop";
import { BlockNode } from "./BlockNode";
import { canvasCommands } from "./canvasCommands";
import { CanvasTools } from "./CanvasTools";
import { Guides } from "./Guides";
import { menuHandlers } from "./menu";
import { setMoving } from "./moving";
import type { BlockNode as Block, WireEdge as Wire } from "./nodes";
import { DRAGGED } from "./Palette";
import { blockAt, sceneOf, wireNear, type WireShape } from "./scene";
import { FAR, useShown } from "./shown";
import { useTouch } from "./touch";
import { useBlocks } from "./useBlocks";
import { bringIntoView, fitAll, keepView, refit, restoreView, seeGrown, seeSomething, ZOOM } from "./views";
import { WireEdge } from "./WireEdge";
import { WireHover } from "./WireHover";
import { beginWire, endsOf, endWire, reasonAgainst, wire } from "./wiring";

const Minimap = lazy(async () => ({ default: (await import("./Minimap")).Minimap }));
const NODE_TYPES = { block: BlockNode };
const EDGE_TYPES = { wire: WireEdge };
const ADDITIVE = ["Shift", "Control", "Meta"];
const PAN = [1, 2];
const ChangesLayer = lazy(() => import("../changes/ChangesLayer"));
const PRO = { hideAttribution: true };

export function Canvas() {
  const flow = useReactFlow<Block, Wire>();
  const sheet = useStudio((state) => state.sheet);
  const path = useStudio((state) => state.opened?.path);
  const scene = useMemo(() => sceneOf(sheet), [sheet]);
  const { shown, under } = useShown(scene);
  const { nodes, edges, onNodesChange, dropped, nudge, what } = useBlocks(scene, shown);
  const [touch, came] = useTouch();
  const far = useStore(({ transform }) => transform[2] < FAR);
  const minimap = useStudio((state) => state.minimap);
  const comparing = useStudio((state) => state.changes !== null);
  const toReveal = useStudio((state) => state.reveal);
  useCommands(useMemo(() => canvasCommands(flow, nudge), [flow, nudge]));
  useEffect(() => restoreView(flow), [flow, path, sheet?.at]);
  useEffect(() => {
    seeSomething(flow);
    seeGrown(flow);
  }, [flow, sheet]);
  const room = useStore(({ width, height }) => `${width} ${height}`);
  useEffect(() => refit(flow), [flow, room]);
  useEffect(() => {
    if (!toReveal) return;
    if (toReveal.length) bringIntoView(flow, toReveal);
    else fitAll(flow);
    patch({ reveal: null });
  }, [flow, toReveal]);
  return (
    <div className={far ? "flow far" : "flow"} onDoubleClick={(event) => isPane(event) && addAt(flow, event)} onFocus={selectFocused}
      onPointerEnter={(event) => { prepare(); came(event); }} onDragOver={(event) => allowDrop(flow, event)} onDragLeave={() => now().onto && patch({ onto: null })}
      onDrop={(event) => drop(flow, event)} {...menuHandlers}
      onPointerMoveCapture={(event) => { under(event); menuHandlers.onPointerMoveCapture(event); }}>
      <Backdrop scene={scene} what={what} />
      <ReactFlow<Block, Wire> nodes={nodes} edges={edges} nodeTypes={NODE_TYPES} edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange} onNodeClick={chooseAlone} onNodeDoubleClick={open} onNodeDragStop={(_, __, moved) => dropped(moved)}
        onSelectionDragStop={(_, moved) => dropped(moved)}
        onEdgeClick={selectWire} onPaneClick={() => patch({ selection: [], wires: [], marks: [] })}
        onEdgeMouseEnter={(event, edge) => hover(event, edge)} onEdgeMouseLeave={() => patch({ hover: null })}
        onConnectStart={begin} onConnectEnd={(event, state) => end(flow, event, state)} onConnect={connect}
        onClickConnectStart={begin} onClickConnectEnd={endWire} onReconnect={reconnect} isValidConnection={isFit}
        onMoveStart={() => setMoving(true)} onMoveEnd={(_, viewport) => { setMoving(false); keepView(viewport); }}
        colorMode="system" minZoom={ZOOM.least} maxZoom={ZOOM.most} proOptions={PRO} deleteKeyCode={null}
        panActivationKeyCode={null} multiSelectionKeyCode={ADDITIVE} selectionOnDrag selectionMode={SelectionMode.Partial}
        panOnDrag={touch || PAN} zoomOnDoubleClick={false} elevateNodesOnSelect={false} edgesFocusable={false} disableKeyboardA11y
        connectionRadius={16} connectionLineType={ConnectionLineType.SmoothStep} nodeDragThreshold={3}>
        <Annotations nudge={nudge} />
        <Guides />
        {comparing && <Suspense><ChangesLayer /></Suspense>}
      </ReactFlow>
      <CanvasTools />
      <WireHover />
      {minimap && <Suspense><Minimap /></Suspense>}
      {sheet?.blocks.length === 0 && <p className="foreign">Ctrl+K, or a double click here, adds the first block.</p>}
      {sheet && sheet.runs.length > 0 && <p className="runs">{sheet.runs.map((text) => <span key={text}>{text}</span>)}</p>}
      {sheet?.within === null && <p className="foreign">This sheet is of another file, and can be edited there.</p>}
    </div>
  );
}

/** What a double click opens is loaded before it, so that what is typed next comes there. */
function prepare(): void {
  void import("../app/Dialogs");
}

// --- selection -------------------------------------------------------------------------------

function selectWire(event: MouseEvent, { id }: Wire): void {
  const { wires, selection } = now();
  const more = event.shiftKey || event.ctrlKey || event.metaKey;
  if (more) patch({ wires: wires.includes(id) ? wires.filter((one) => one !== id) : [...wires, id] });
  else patch({ wires: [id], marks: [], selection: selection.length ? [] : selection });
}

/** A click on one of several selected blocks selects it alone. */
function chooseAlone({ shiftKey, ctrlKey, metaKey }: MouseEvent, { id }: Block): void {
  const { selection, wires, marks } = now();
  const several = selection.length + wires.length + marks.length > 1;
  if (several && !shiftKey && !ctrlKey && !metaKey) patch({ selection: [id], wires: [], marks: [] });
}

/** A block that Tab has come to is selected. */
function selectFocused(event: FocusEvent): void {
  const id = event.target.classList.contains("react-flow__node") ? event.target.getAttribute("data-id") : null;
  if (!id || !event.target.matches(":focus-visible") || now().selection.includes(id)) return;
  patch({ selection: [id], wires: [], marks: [], reveal: [id] });
}

function open(_: MouseEvent, { data: { block } }: Block): void {
  if (block.opens !== null) void showSheet(block.opens);
}

function hover(event: MouseEvent, { data }: Wire): void {
  if (data && event.buttons === 0) patch({ hover: { wire: data.wire, x: event.clientX, y: event.clientY } });
}

// --- adding ---------------------------------------------------------------------------------------

type Flow = ReturnType<typeof useReactFlow<Block, Wire>>;

function isPane(event: MouseEvent): boolean {
  return (event.target as Element).classList.contains("react-flow__pane");
}

function addAt(flow: Flow, { clientX, clientY }: { clientX: number; clientY: number }): void {
  const { x, y } = flow.screenToFlowPosition({ x: clientX, y: clientY });
  patch({ adding: { place: [x, y], from: now().drawing } });
}

/** A block over which a type is dragged is marked, and so is a wire. */
function allowDrop(flow: Flow, event: DragEvent): void {
  if (!event.dataTransfer.types.includes(DRAGGED)) return;
  event.preventDefault();
  const onto = ontoOf(flow, event);
  const key = onto.block?.name ?? onto.wire?.id ?? null;
  if (key !== now().onto) patch({ onto: key });
}

/** The block or the wire under the pointer. */
function ontoOf(flow: Flow, { clientX, clientY }: DragEvent): { block?: SheetBlock; wire?: WireShape } {
  const { x, y } = flow.screenToFlowPosition({ x: clientX, y: clientY });
  const scene = sceneOf(now().sheet);
  const block = blockAt(scene, [x, y]);
  return block ? { block } : { wire: wireNear(scene, [x, y], 10) };
}

function drop(flow: Flow, event: DragEvent): void {
  const name = event.dataTransfer.getData(DRAGGED);
  const type = addableHere().find((one) => one.name === name);
  if (!type) return;
  event.preventDefault();
  const { block, wire } = ontoOf(flow, event);
  patch({ onto: null });
  const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
  if (block && type.look !== "border" && block.look !== "border") void import("./replacing").then(({ retype }) => retype(block.name, type.name));
  else if (wire && type.look !== "border") void addInto(type, wire.wire, [x, y]);
  else void addBlock(type, [x, y]);
}

// --- wires --------------------------------------------------------------------------------------------

function begin(_: unknown, { nodeId, handleId, handleType }: OnConnectStartParams): void {
  patch({ hover: null });
  if (nodeId && handleId) void beginWire(nodeId, handleId, handleType === "source");
}

function isFit({ source, sourceHandle, target, targetHandle }: Joined | Wire): boolean {
  const { drawing } = now();
  const [block, port] = drawing?.output === false ? [source, sourceHandle] : [target, targetHandle];
  return reasonAgainst(drawing, block, port ?? "") === undefined;
}

function connect({ source, sourceHandle, target, targetHandle }: Joined): void {
  const ends = endsOf({ block: source, port: sourceHandle ?? "" }, { block: target, port: targetHandle ?? "" });
  void wire(ends.source, ends.target);
}

/** A wire that ends at a port that does not fit is explained; on the empty sheet it gets a block. */
function end(flow: Flow, event: globalThis.MouseEvent | TouchEvent, state: FinalConnectionState): void {
  const { drawing } = now();
  const { toHandle, isValid } = state;
  if (toHandle && !isValid) notify(reasonAgainst(drawing, toHandle.nodeId, toHandle.id ?? "") ?? "the wire does not fit there", "fault");
  const target = event.target as Element;
  if (!toHandle && drawing && target.classList.contains("react-flow__pane")) {
    addAt(flow, "changedTouches" in event ? event.changedTouches[0]! : event);
  } else endWire();
}

function reconnect({ data }: Wire, { source, sourceHandle, target, targetHandle }: Joined): void {
  const within = now().sheet?.within;
  if (!data || within == null) return;
  const old = { source: data.wire.source, target: data.wire.target };
  const fresh = endsOf({ block: source, port: sourceHandle ?? "" }, { block: target, port: targetHandle ?? "" });
  const operations: Operation[] = [{ op: "unwire", ...old, within }, { op: "wire", ...fresh, within }];
  void edit(...operations);
}
