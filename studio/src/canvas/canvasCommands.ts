// The keys of the sheet.

import type { ReactFlowInstance } from "@xyflow/react";

import { leave, redo, save, showSheet, undo } from "../actions";
import type { Command, Subject } from "../app/keys";
import { keep } from "../panels/kept";
import { now, patch } from "../store";
import { fillForm, removeSelected } from "./commands";
import { editable, newArea, toggleNames, turnSelected } from "./looks";
import { moveMarks } from "./marks";
import { noteAt, openMenu } from "./menu";
import { fitAll, fitSelected } from "./views";

type Flow = Pick<ReactFlowInstance<never, never>, "setViewport" | "getViewport" | "zoomIn" | "zoomOut" | "screenToFlowPosition">;

const STEP = 10;
const BLOCK: readonly Subject[] = ["block"];
const SHEET: readonly Subject[] = ["sheet"];

// Loaded when it is first used, and once: a second import() may be ready before the first, and
// a paste would then come before its copy.
let loaded: Promise<typeof import("./clipboard")> | null = null;
const clipboard = (): Promise<typeof import("./clipboard")> =>
  (loaded ??= import("./clipboard").catch((error: unknown) => {
    loaded = null;
    throw error;
  }));

/** The commands of the sheet. nudge: moves the selected blocks by so many pixels. */
export function canvasCommands(flow: Flow, nudge: (dx: number, dy: number, names?: readonly string[]) => void): [string, Command[]][] {
  const move = (dx: number, dy: number): void => {
    const { marks } = now();
    if (marks.length) moveMarks(marks, dx, dy, nudge);
    else nudge(dx, dy);
  };
  const arrows = (keys: string, step: number, what: string): Command[] =>
    (["Left", "Right", "Up", "Down"] as const).map((way) => ({
      keys: [`${keys}Arrow${way}`],
      what: `${what} ${way.toLowerCase()}`,
      run: () => move(way === "Left" ? -step : way === "Right" ? step : 0, way === "Up" ? -step : way === "Down" ? step : 0),
    }));
  return [
    ["Edit", [
      { keys: ["Ctrl+Z"], what: "undo", run: undo, on: SHEET },
      { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], what: "redo", run: redo, on: SHEET },
      { keys: ["Ctrl+S"], what: "write the field; all other edits are written at once", run: save },
      { keys: ["Ctrl+K", "A"], what: "add a block by its name, into the selected wire", run: () => patch({ adding: { place: null, from: null } }), on: ["sheet", "wire"] },
      { keys: ["Tab"], what: "to the parameters of a new block", run: fillForm, when: isFresh },
      { keys: ["W"], what: "wire the selected block", run: ifSelected(() => patch({ dialog: "wire" })), on: BLOCK },
      { keys: ["F2"], what: "rename in place; write the note or the title", run: renameInPlace, on: ["block", "mark"] },
      { keys: ["Delete", "Ctrl+Backspace"], what: "remove", run: removeSelected, on: ["block", "wire", "mark"] },
      { keys: ["Ctrl+C"], what: "copy", run: async () => (await clipboard()).copy(), on: BLOCK },
      { keys: ["Ctrl+V"], what: "paste", run: async () => (await clipboard()).paste(), on: SHEET },
      { keys: ["Ctrl+D"], what: "duplicate", run: async () => (await clipboard()).duplicate(), on: BLOCK },
      { keys: ["Ctrl+G"], what: "make a subsystem", run: ifSelected(() => patch({ dialog: "group" })), on: BLOCK },
      { keys: ["Ctrl+Shift+G"], what: "kind of the subsystem: enabled, triggered, for each", run: () => patch({ dialog: kindAsked() }), on: BLOCK },
      { keys: [], what: "another type…", run: () => patch({ dialog: "retype" }), on: BLOCK, when: () => now().selection.length === 1 },
      { keys: ["ContextMenu", "Shift+F10"], what: "all commands for what is selected", run: openMenu },
    ]],
    ["Look", [
      { keys: ["Ctrl+I"], what: "flip", run: () => turnSelected(2), on: BLOCK, when: hasBlocks },
      { keys: ["Ctrl+R"], what: "rotate", run: () => turnSelected(1), on: BLOCK, when: hasBlocks },
      { keys: ["Ctrl+Shift+R"], what: "rotate back", run: () => turnSelected(-1), on: BLOCK, when: hasBlocks },
      { keys: ["C"], what: "colour…", run: () => patch({ dialog: "colour" }), on: ["block", "mark"], when: () => hasBlocks() || hasAreas() },
      { keys: ["H"], what: "hide or show the name", run: toggleNames, on: BLOCK, when: hasBlocks },
      { keys: ["N"], what: "write a note", run: () => newNote(flow), on: ["sheet", "block"] },
      { keys: ["B"], what: "lay an area around the selected blocks", run: newArea, on: BLOCK },
      { keys: ["L"], what: "names of signals on wires, or none", run: () => turn("names"), on: ["sheet", "wire"] },
      { keys: ["M"], what: "the whole sheet in a corner, or not", run: () => turn("minimap"), on: SHEET },
    ]],
    ["Select and move", [
      { keys: ["Ctrl+A"], what: "select all blocks", run: () => patch({ selection: now().sheet?.blocks.map(({ name }) => name) ?? [], marks: [] }), on: SHEET },
      { keys: ["Escape"], what: "select nothing", run: () => patch({ selection: [], wires: [], marks: [], drawing: null }) },
      ...arrows("", STEP, "move"),
      ...arrows("Shift+", 1, "move a little"),
    ]],
    ["Go and see", [
      { keys: ["Enter"], what: "open the subsystem", run: enterSelected, on: BLOCK, when: opensSelected },
      { keys: ["Backspace", "Alt+ArrowUp"], what: "go up", run: leave, on: SHEET, when: () => !!now().sheet?.at },
      { keys: ["["], what: "go to where the signal comes from", run: () => trace(true), on: ["block", "wire"] },
      { keys: ["]"], what: "go to where the signal goes", run: () => trace(false), on: ["block", "wire"] },
      { keys: ["Ctrl+F", "/"], what: "search", run: () => patch({ dialog: "search" }), on: SHEET },
      { keys: ["Ctrl+E"], what: "the text beside the sheet; there: close it", run: openCode, on: ["block", "sheet"] },
      { keys: ["F", "Space"], what: "see the whole", run: () => fitAll(flow), on: SHEET },
      { keys: ["Shift+F"], what: "see the selection", run: () => fitSelected(flow), on: BLOCK },
      { keys: ["+", "="], what: "zoom in", run: () => flow.zoomIn() },
      { keys: ["-"], what: "zoom out", run: () => flow.zoomOut() },
      { keys: ["?"], what: "these keys", run: () => patch({ dialog: "help" }) },
    ]],
  ];
}

/** Switch what is shown over the sheet on or off; it is kept for the file. */
function turn(what: "names" | "minimap"): void {
  const change = { [what]: !now()[what] };
  patch(change);
  keep(change);
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

function hasBlocks(): boolean {
  return now().selection.length > 0;
}

function hasAreas(): boolean {
  return now().marks.some((mark) => mark.startsWith("area"));
}

function renameInPlace(): void {
  const { selection: [name], marks: [mark] } = now();
  if (name !== undefined) patch({ renaming: name, reveal: [name] });
  else if (mark !== undefined && editable() !== null) {
    const [of, index] = mark.split(" ");
    patch({ writing: { of: of as "note" | "area", index: Number(index) } });
  }
}

/** A note over the selected block, else where the pointer was last on the sheet, or in the middle. */
function newNote(flow: Flow): void {
  if (editable() === null) return;
  const { sheet, selection, menu } = now();
  const block = sheet?.blocks.find(({ name }) => name === selection[0]);
  const box = document.querySelector(".sheet")?.getBoundingClientRect();
  if (!box) return;
  const middle = flow.screenToFlowPosition(menu ?? noteAt() ?? { x: box.x + box.width / 2, y: box.y + box.height / 3 });
  patch({ writing: { of: "note", index: null, at: block ? [block.x, block.y - 44] : [Math.round(middle.x), Math.round(middle.y)] } });
}

async function trace(toSource: boolean): Promise<void> {
  await (await import("./tracing")).trace(toSource);
}

function opensSelected(): boolean {
  const { sheet, selection } = now();
  return sheet?.blocks.some(({ name, opens }) => name === selection[0] && opens !== null) ?? false;
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
