// The keys of the sheet.

import type { ReactFlowInstance } from "@xyflow/react";

import { leave, redo, showSheet, undo } from "../actions";
import type { Command } from "../app/keys";
import { now, patch } from "../store";
import { fillForm, removeSelected } from "./commands";
import { fitAll, fitSelected } from "./views";

type Flow = Pick<ReactFlowInstance<never, never>, "setViewport" | "getViewport" | "zoomIn" | "zoomOut">;

const STEP = 10;

// Loaded when it is first used, and once: a second import() may be ready before the first, and
// a paste would then come before its copy.
let loaded: Promise<typeof import("./clipboard")> | null = null;
const clipboard = (): Promise<typeof import("./clipboard")> =>
  (loaded ??= import("./clipboard").catch((error: unknown) => {
    loaded = null;
    throw error;
  }));

/** The commands of the sheet. nudge: moves the selected blocks by so many pixels. */
export function canvasCommands(flow: Flow, nudge: (dx: number, dy: number) => void): [string, Command[]][] {
  const arrows = (keys: string, step: number, what: string): Command[] =>
    (["Left", "Right", "Up", "Down"] as const).map((way) => ({
      keys: [`${keys}Arrow${way}`],
      what: `${what} ${way.toLowerCase()}`,
      run: () => nudge(way === "Left" ? -step : way === "Right" ? step : 0, way === "Up" ? -step : way === "Down" ? step : 0),
    }));
  return [
    ["Edit", [
      { keys: ["Ctrl+Z"], what: "undo", run: undo },
      { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], what: "redo", run: redo },
      { keys: ["Ctrl+K", "A"], what: "add a block by its name", run: () => patch({ adding: { place: null, from: null } }) },
      { keys: ["Tab"], what: "to the parameters of a new block", run: fillForm, when: isFresh },
      { keys: ["W"], what: "wire the selected block", run: ifSelected(() => patch({ dialog: "wire" })) },
      { keys: ["F2"], what: "rename", run: ifSelected((name) => patch({ renaming: name })) },
      { keys: ["Delete", "Ctrl+Backspace"], what: "remove", run: removeSelected },
      { keys: ["Ctrl+C"], what: "copy", run: async () => (await clipboard()).copy() },
      { keys: ["Ctrl+V"], what: "paste", run: async () => (await clipboard()).paste() },
      { keys: ["Ctrl+D"], what: "duplicate", run: async () => (await clipboard()).duplicate() },
      { keys: ["Ctrl+G"], what: "make a subsystem", run: ifSelected(() => patch({ dialog: "group" })) },
      { keys: ["Ctrl+Shift+G"], what: "kind of the subsystem: enabled, triggered, for each", run: () => patch({ dialog: kindAsked() }) },
    ]],
    ["Select and move", [
      { keys: ["Ctrl+A"], what: "select all blocks", run: () => patch({ selection: now().sheet?.blocks.map(({ name }) => name) ?? [] }) },
      { keys: ["Escape"], what: "select nothing", run: () => patch({ selection: [], wires: [], drawing: null }) },
      ...arrows("", STEP, "move"),
      ...arrows("Shift+", 1, "move a little"),
    ]],
    ["Go and see", [
      { keys: ["Enter"], what: "open the subsystem", run: enterSelected },
      { keys: ["Backspace", "Alt+ArrowUp"], what: "go up", run: leave },
      { keys: ["Ctrl+F", "/"], what: "search", run: () => patch({ dialog: "search" }) },
      { keys: ["Ctrl+E"], what: "the text beside the sheet; there: close it", run: openCode },
      { keys: ["F", "Space"], what: "see the whole", run: () => fitAll(flow) },
      { keys: ["Shift+F"], what: "see the selection", run: () => fitSelected(flow) },
      { keys: ["+", "="], what: "zoom in", run: () => flow.zoomIn() },
      { keys: ["-"], what: "zoom out", run: () => flow.zoomOut() },
      { keys: ["?"], what: "these keys", run: () => patch({ dialog: "help" }) },
    ]],
  ];
}

/** Open the text, or go to it. */
export function openCode(): void {
  if (now().code === null) patch({ code: "file" });
  else document.querySelector<HTMLElement>(".code-pane .cm-content")?.focus();
}

/** The kind is asked of a subsystem, or of the new one that the selected blocks become. */
function kindAsked(): "kind" | "group" | null {
  const { sheet, selection } = now();
  const chosen = sheet?.blocks.filter(({ name }) => selection.includes(name)) ?? [];
  if (chosen.every(({ look }) => look === "border")) return sheet?.at ? "kind" : null;
  return chosen.length === 1 && chosen[0]?.opens ? "kind" : "group";
}

function isFresh(): boolean {
  const { fresh, selection } = now();
  return fresh !== null && selection.length === 1 && selection[0] === fresh;
}

function ifSelected(what: (name: string) => void): () => void {
  return () => {
    const [name] = now().selection;
    if (name !== undefined) what(name);
  };
}

function enterSelected(): void {
  const { sheet, selection } = now();
  const block = sheet?.blocks.find(({ name }) => name === selection[0]);
  if (block && block.opens !== null) void showSheet(block.opens);
}
