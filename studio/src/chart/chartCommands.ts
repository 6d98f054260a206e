// The keys of a chart.

import type { ReactFlowInstance } from "@xyflow/react";

import { leave, redo, save, undo } from "../actions";
import type { Command } from "../app/keys";
import { openCode } from "../canvas/canvasCommands";
import type { Chart } from "../protocol";
import { now, patch } from "../store";
import {
  addState, makeInitial, nestSelected, removeSelected, reorderSelected, selectedState, selectedTransition, siblings, stateAt, toggle,
} from "./editing";
import { fitAll, fitStates } from "./views";

type Flow = Pick<ReactFlowInstance, "setViewport" | "getViewport" | "zoomIn" | "zoomOut">;

function chart(): Chart | undefined {
  return now().sheet?.chart;
}

function select(path: string | undefined): void {
  if (path) patch({ selection: [path], wires: [], reveal: [path] });
}

/** Go to the state before or after, in the order in which they are written. */
function step(by: 1 | -1): void {
  const states = chart()?.states ?? [];
  const at = states.findIndex(({ path }) => path === now().selection[0]);
  select(at < 0 ? states[by > 0 ? 0 : states.length - 1]?.path : states[at + by]?.path);
}

function goInside(): void {
  const shown = chart();
  const state = selectedState();
  if (shown && state) select(siblings(shown, state.path)[0]?.path);
}

function goOutside(): void {
  const shown = chart();
  const [source] = selectedTransition()?.lines ?? [];
  const path = source?.source ?? selectedState()?.parent;
  if (shown && stateAt(shown, path)) select(path);
}

/** Go through the transitions that leave the selected state, or those that leave with the selected one. */
function nextTransition(): void {
  const shown = chart();
  const current = selectedTransition();
  const name = selectedState()?.name ?? current?.sources[0];
  const own = shown?.transitions.filter(({ sources }) => name !== undefined && sources.includes(name)) ?? [];
  const at = own.findIndex(({ path }) => path === current?.path);
  select(own[(at + 1) % own.length]?.path);
}

/** The commands of the chart. link: asks for the state to which a transition leads. */
export function chartCommands(flow: Flow, link: () => void): [string, Command[]][] {
  const ifShown = (what: (shown: Chart) => void) => () => {
    const shown = chart();
    if (shown) what(shown);
  };
  return [
    ["Edit", [
      { keys: ["Ctrl+Z"], what: "undo", run: undo },
      { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], what: "redo", run: redo },
      { keys: ["Ctrl+S"], what: "write the field; all other edits are written at once", run: save },
      { keys: ["Ctrl+K", "A"], what: "add a state beside the selected one", run: () => addState(selectedState()?.parent) },
      { keys: ["S"], what: "add a substate", run: () => addState(selectedState()?.path) },
      { keys: ["Tab"], what: "to the actions of a new state", run: fill, when: isFresh },
      { keys: ["W"], what: "add a transition from the selected state", run: link },
      { keys: ["F2"], what: "rename the state", run: () => patch({ renaming: selectedState()?.path ?? null }) },
      { keys: ["Delete", "Ctrl+Backspace"], what: "remove states and transitions", run: removeSelected },
      { keys: ["I"], what: "enter the state first", run: () => makeInitial() },
      { keys: ["H"], what: "history on and off", run: () => toggle("history") },
      { keys: ["Shift+P"], what: "parallel substates on and off", run: () => toggle("parallel") },
    ]],
    ["Select and move", [
      { keys: ["ArrowDown"], what: "the next state", run: () => step(1) },
      { keys: ["ArrowUp"], what: "the state before", run: () => step(-1) },
      { keys: ["ArrowRight"], what: "into the state", run: goInside },
      { keys: ["ArrowLeft"], what: "to the state around, or that of a transition", run: goOutside },
      { keys: ["T"], what: "the next transition of the state", run: nextTransition },
      { keys: ["Ctrl+ArrowUp"], what: "move up in the order", run: () => reorderSelected(-1) },
      { keys: ["Ctrl+ArrowDown"], what: "move down in the order", run: () => reorderSelected(1) },
      { keys: ["Ctrl+ArrowRight"], what: "move into the state before", run: () => nestSelected(true) },
      { keys: ["Ctrl+ArrowLeft"], what: "move out of the state around", run: () => nestSelected(false) },
      { keys: ["Ctrl+A"], what: "select all states", run: ifShown(({ states }) => patch({ selection: states.map(({ path }) => path) })) },
      { keys: ["Escape"], what: "select nothing", run: () => patch({ selection: [], wires: [] }) },
    ]],
    ["Go and see", [
      { keys: ["Enter"], what: "to the fields of what is selected", run: fill },
      { keys: ["Backspace", "Alt+ArrowUp"], what: "go up", run: leave },
      { keys: ["Ctrl+F", "/"], what: "search", run: () => patch({ dialog: "search" }) },
      { keys: ["Ctrl+E"], what: "the text beside the chart; there: close it", run: openCode },
      { keys: ["F", "Space"], what: "see the whole", run: ifShown((shown) => fitAll(flow, shown)) },
      { keys: ["Shift+F"], what: "see the selection", run: ifShown((shown) => fitStates(flow, shown, now().selection)) },
      { keys: ["+", "="], what: "zoom in", run: () => flow.zoomIn() },
      { keys: ["-"], what: "zoom out", run: () => flow.zoomOut() },
      { keys: ["?"], what: "these keys", run: () => patch({ dialog: "help" }) },
    ]],
  ];
}

function fill(): void {
  patch({ filling: selectedTransition() ? "when" : "", fresh: null });
}

function isFresh(): boolean {
  const { fresh, selection } = now();
  return fresh !== null && selection.length === 1 && selection[0] === fresh;
}
