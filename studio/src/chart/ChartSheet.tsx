// The chart of a state machine, to look at and to work on.

import { applyNodeChanges, type NodeChange, ReactFlow, SelectionMode, useReactFlow, useStore } from "@xyflow/react";
import { type FocusEvent, type MouseEvent, useCallback, useEffect, useMemo, useState } from "react";

import { Chooser } from "../app/Chooser";
import { Dialog } from "../app/Dialog";
import { Tool } from "../app/Header";
import { useCommands } from "../app/keys";
import type { Chart, ChartState } from "../protocol";
import { now, patch, useStudio } from "../store";
import { chartCommands } from "./chartCommands";
import { addState, addTransition, moveState, placeAmong, selectedState, stateAt, stateUnder } from "./editing";
import "./chart.css";
import { useLineDrag } from "./lineDrag";
import { BeginContext, OverContext, type Shown, StateNode } from "./StateNode";
import { Transitions } from "./Transitions";
import { useActiveStates } from "./watching";
import { bringIntoView, fitAll, keepView, refit, restoreView, ZOOM } from "./views";

const NODE_TYPES = { state: StateNode };
const ADDITIVE = ["Shift", "Control", "Meta"];
const PAN = [1, 2];
const FAR = 0.35;
const PRO = { hideAttribution: true };

export default function ChartSheet() {
  const chart = useStudio((state) => state.sheet?.chart);
  return chart ? <Open chart={chart} /> : null;
}

function Open({ chart }: { chart: Chart }) {
  const flow = useReactFlow<Shown>();
  const readOnly = useStudio((state) => state.sheet?.within === null);
  const [linking, setLinking] = useState(false);
  const { line, begin } = useLineDrag();
  const { nodes, onNodesChange, putBack } = useStates(chart, readOnly);
  const far = useStore(({ transform }) => transform[2] < FAR);
  useCommands(useMemo(() => chartCommands(flow, () => setLinking(selectedState() !== undefined)), [flow]));
  useViews(chart);
  useActiveStates(chart);
  return (
    <div className={far ? "flow chart-flow far" : "flow chart-flow"} onDoubleClick={addAt} onFocus={selectFocused}>
      <BeginContext value={begin}>
        <OverContext value={line?.over ?? null}>
          <ReactFlow<Shown> nodes={nodes} edges={[]} nodeTypes={NODE_TYPES} onNodesChange={onNodesChange}
            onNodeDragStop={(event, node) => void drop(chart, flow, event, node).finally(putBack)}
            onNodeClick={chooseAlone} onPaneClick={() => patch({ selection: [], wires: [] })} onMoveEnd={(_, viewport) => keepView(viewport)}
            colorMode="system" minZoom={ZOOM.least} maxZoom={ZOOM.most} proOptions={PRO} deleteKeyCode={null} nodesConnectable={false}
            panActivationKeyCode={null} multiSelectionKeyCode={ADDITIVE} selectionOnDrag selectionMode={SelectionMode.Full}
            panOnDrag={PAN} zoomOnDoubleClick={false} elevateNodesOnSelect={false} disableKeyboardA11y nodesDraggable={!readOnly} nodeDragThreshold={4}>
            <Transitions chart={chart} readOnly={readOnly} line={line} />
          </ReactFlow>
        </OverContext>
      </BeginContext>
      <div className="canvas-tools" role="toolbar" aria-label="Chart">
        {!readOnly && <Tool icon="plus" name="Add a state" keys="Ctrl+K" onClick={() => void addState(selectedState()?.parent)} />}
        {!readOnly && <Tool icon="enter" name="Add a substate" keys="S" onClick={() => void addState(selectedState()?.path)} />}
        {!readOnly && <Tool icon="right" name="Add a transition from the selected state" keys="W" onClick={() => setLinking(selectedState() !== undefined)} />}
        <Tool icon="fit" name="See the whole" keys="F" onClick={() => fitAll(flow, chart)} />
      </div>
      {linking && <LinkDialog chart={chart} onClose={() => setLinking(false)} />}
      {readOnly && <p className="foreign">This machine is of another file, and can be edited there.</p>}
      {chart.states.length === 0 && <p className="foreign">Ctrl+K, or a double click here, adds the first state.</p>}
    </div>
  );
}

function useViews(chart: Chart): void {
  const flow = useReactFlow<Shown>();
  const at = useStudio(({ opened, sheet }) => `${opened?.path}::${sheet?.at}`);
  const toReveal = useStudio((state) => state.reveal);
  const room = useStore(({ width, height }) => `${width} ${height}`);
  useEffect(() => restoreView(flow, chart), [flow, at]);
  useEffect(() => refit(flow, chart), [flow, room]);
  useEffect(() => {
    if (!toReveal) return;
    if (toReveal.length) bringIntoView(flow, chart, toReveal);
    else fitAll(flow, chart);
    patch({ reveal: null });
  }, [flow, chart, toReveal]);
}

/** The states as React Flow has them: as served, and elsewhere while they are dragged. */
function useStates(chart: Chart, readOnly: boolean) {
  const selection = useStudio((state) => state.selection);
  const [nodes, setNodes] = useState<Shown[]>([]);
  useEffect(() => setNodes((before) => nodesOf(chart, selection, readOnly, before)), [chart, selection, readOnly]);
  const onNodesChange = useCallback((changes: NodeChange<Shown>[]) => {
    const others = changes.filter((change) => change.type !== "select");
    if (others.length) setNodes((before) => applyNodeChanges(others, before));
    if (others.length < changes.length) select(changes);
  }, []);
  const putBack = useCallback(() => {
    const { sheet, selection: chosen } = now();
    if (sheet?.chart) setNodes(nodesOf(sheet.chart, chosen, sheet.within === null, []));
  }, []);
  return { nodes, onNodesChange, putBack };
}

function select(changes: readonly NodeChange<Shown>[]): void {
  const chosen = new Set(now().selection);
  for (const change of changes) {
    if (change.type !== "select") continue;
    if (change.selected) chosen.add(change.id);
    else chosen.delete(change.id);
  }
  patch({ selection: [...chosen], wires: [] });
}

function nodesOf(chart: Chart, selection: readonly string[], readOnly: boolean, before: readonly Shown[]): Shown[] {
  const old = new Map(before.map((node) => [node.id, node]));
  const selected = new Set(selection);
  const depths = new Map<string, number>();
  return chart.states.map((state) => {
    const parent = stateAt(chart, state.parent);
    const depth = parent ? depths.get(parent.path)! + 1 : 0;
    depths.set(state.path, depth);
    const node = nodeOf(state, parent, depth, readOnly, selected.has(state.path));
    const same = old.get(state.path);
    const isSame = same && !same.dragging && same.selected === node.selected && same.position.x === node.position.x
      && same.position.y === node.position.y && JSON.stringify(same.data) === JSON.stringify(node.data);
    return isSame ? same : node;
  });
}

function nodeOf(state: ChartState, parent: ChartState | undefined, depth: number, readOnly: boolean, selected: boolean): Shown {
  const { path, x, y, width, height } = state;
  return {
    id: path, type: "state", width, height, selected,
    position: { x: x - (parent?.x ?? 0), y: y - (parent?.y ?? 0) },
    ...(parent ? { parentId: parent.path } : {}),
    ariaRole: "group", ariaLabel: labelOf(state), data: { state, depth, readOnly },
  };
}

function labelOf({ name, entered, open, parallel, problems }: ChartState): string {
  const first = entered === "first" ? ", entered first" : entered === "history" ? ", entered first or by history" : "";
  const holds = open ? (parallel ? ", with parallel substates" : ", with substates") : "";
  return `state ${name}${first}${holds}${problems.length ? `, ${problems.length} problems` : ""}`;
}

/** A state that is clicked is selected alone, also where transitions, of which the flow knows
 * nothing, were selected. */
function chooseAlone({ shiftKey, ctrlKey, metaKey }: MouseEvent, { id }: Shown): void {
  if (!shiftKey && !ctrlKey && !metaKey) patch({ selection: [id], wires: [] });
}

/** A state that Tab has come to is selected. */
function selectFocused(event: FocusEvent): void {
  const id = event.target.classList.contains("react-flow__node") ? event.target.getAttribute("data-id") : null;
  if (!id || !event.target.matches(":focus-visible") || now().selection.includes(id)) return;
  patch({ selection: [id], wires: [], reveal: [id] });
}

/** A double click adds a state: on the sheet, or within the state under it. */
function addAt(event: MouseEvent): void {
  const target = event.target as Element;
  if (target.classList.contains("react-flow__pane")) return void addState();
  const id = target.closest(".react-flow__node")?.getAttribute("data-id");
  if (!id || target.closest("input")) return;
  if (target.closest(".state-name")) patch({ selection: [id], renaming: id });
  else void addState(id);
}

/** A dragged state goes into the state under the pointer, at the height at which it was dropped. */
async function drop(chart: Chart, flow: ReturnType<typeof useReactFlow<Shown>>, event: unknown, node: Shown): Promise<void> {
  const { clientX, clientY } = "changedTouches" in (event as TouchEvent) ? (event as TouchEvent).changedTouches[0]! : (event as globalThis.MouseEvent);
  const { x, y } = flow.screenToFlowPosition({ x: clientX, y: clientY });
  const { state } = node.data;
  const into = stateUnder(chart, [x, y], state.path)?.path ?? chart.path;
  const parent = stateAt(chart, state.parent);
  const top = node.position.y + (parent?.y ?? 0);
  await moveState(state, into, placeAmong(chart, into, state, top));
}

/** To which state a transition from the selected one leads. */
function LinkDialog({ chart, onClose }: { chart: Chart; onClose: () => void }) {
  const from = selectedState();
  if (!from) return null;
  const label = `A transition from ${from.name} to`;
  const choices = chart.states.map((state) => ({ key: state.path, thing: state, name: state.name, note: stateAt(chart, state.parent)?.name ?? "" }));
  return (
    <Dialog name={label} onClose={onClose}>
      <Chooser label={label} choices={choices} onChoose={(to) => { onClose(); void addTransition(from, to); }} empty="No state is called so." />
    </Dialog>
  );
}
