// The caret follows the selection of the sheet, and the selection the caret.

import type { EditorView } from "@codemirror/view";

import { showSheet } from "../actions";
import { wireKey } from "../canvas/geometry";
import type { Chart, Sheet, SheetWire } from "../protocol";
import { connection, now, patch, pathOf, watch } from "../store";
import { Elsewhere } from "./link";
import { choose, spanOf } from "./part";
import { type Path, pathAt, rangeOf } from "./places";

/** The path in the file of what is selected on the sheet; null where that is nothing, or several. */
export function pathOfSelection(view: EditorView | null): Path | null {
  const { sheet, selection, wires } = now();
  if (!sheet || sheet.within === null) return null;
  const home = sheet.within ? ["subsystems", sheet.within] : [];
  const [name] = selection;
  if (sheet.chart) return selection.length > 1 ? null : keysOf(name ?? sheet.chart.path);
  if (selection.length === 1 && name !== undefined) {
    const { look } = sheet.blocks.find((block) => block.name === name) ?? {};
    if (look === "border") return [...home, name === "in" ? "inputs" : "outputs"];
    return look === "variant" ? ["variants", name] : [...home, "blocks", name];
  }
  const wire = wires.length === 1 && selection.length === 0 ? sheet.wires.find((one) => wireKey(one) === wires[0]) : undefined;
  return wire && view ? pathOfWire(view, home, wire) : null;
}

/** The keys of a path of a machine: blocks.modes.transitions[2]. */
function keysOf(path: string): Path {
  return path.split(/[.[]/).map((key) => (key.endsWith("]") ? Number.parseInt(key, 10) : key));
}

/** The innermost state or transition of the chart at a path in the file; none outside of its machine. */
function partOfChart(chart: Chart, path: Path): string[] | null {
  const isWithin = (one: string): boolean => keysOf(one).every((key, k) => String(path[k]) === String(key));
  if (!isWithin(chart.path)) return null;
  return [...chart.states, ...chart.transitions].map((one) => one.path).filter(isWithin).slice(-1);
}

function pathOfWire(view: EditorView, home: Path, wire: SheetWire): Path | null {
  const { doc } = view.state;
  const range = rangeOf(doc, [...home, "wires"]);
  if (!range) return null;
  for (let k = range.first; k <= range.last; k++) {
    const { text, from } = doc.line(k);
    if (endsIn(text, wire)) return pathAt(doc, from + text.length);
  }
  return null;
}

/** Whether a line of the list of wires has this one. */
function endsIn(text: string, { source, target }: SheetWire): boolean {
  const [left = "", right] = text.split("->");
  const word = (all: string): string[] => all.split(/[\s,'"-]+/);
  return right !== undefined && word(left).includes(source) && word(right).includes(target);
}

export class Following {
  private isOpen = true;
  private ours = "";
  private seen = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly unwatch: () => void;

  constructor(private readonly view: EditorView) {
    this.unwatch = watch(() => this.look());
  }

  close(): void {
    this.isOpen = false;
    this.unwatch();
    clearTimeout(this.timer);
  }

  /** Go to what is selected on the sheet, where that has changed. again: also where it has not. */
  look(again = false): void {
    const { sheet, selection, wires } = now();
    const key = JSON.stringify([sheet?.at, selection, wires]);
    if (key === this.seen && !again) return;
    this.seen = key;
    // Not within a change of the editor, of which this may be told.
    queueMicrotask(() => this.isOpen && this.go(key === this.ours));
  }

  private go(isOurs: boolean): void {
    const path = pathOfSelection(this.view);
    choose(this.view, path);
    const { state } = this.view;
    const range = path && rangeOf(state.doc, path);
    const span = path && spanOf(state, path);
    const { head } = state.selection.main;
    if (!range || !span || isOurs || (head >= span.from && head <= span.to)) return;
    const anchor = state.doc.line(range.first).from + range.column;
    this.view.dispatch({ selection: { anchor }, scrollIntoView: true, annotations: Elsewhere.of(true) });
  }

  /** The caret was moved by a person. */
  moved(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.select(), 150);
  }

  private async select(): Promise<void> {
    const { doc, selection } = this.view.state;
    const path = pathAt(doc, selection.main.head);
    const { chart } = now().sheet ?? {};
    const part = chart && partOfChart(chart, path);
    if (part) return this.become({ selection: part, wires: [] });
    const isInner = path[0] === "subsystems" && path.length > 2;
    const within = isInner ? String(path[1]) : "";
    const [section, entry] = isInner ? path.slice(2) : path;
    if (entry === undefined) return;
    const sheet = await this.sheetOf(within, section === "blocks" || section === "variants" ? [String(entry)] : []);
    if (!sheet) return;
    if (section === "blocks" || section === "variants") {
      const name = String(entry);
      if (sheet.blocks.some((block) => block.name === name)) this.become({ selection: [name], wires: [] });
    } else if (section === "wires") {
      const { text } = doc.lineAt(selection.main.head);
      const found = sheet.wires.filter((wire) => endsIn(text, wire));
      if (found.length) this.become({ selection: [], wires: found.map(wireKey) });
    }
  }

  private become(change: { selection: string[]; wires: string[] }): void {
    const { sheet, selection, wires } = now();
    const key = JSON.stringify([sheet?.at, change.selection, change.wires]);
    if (key === JSON.stringify([sheet?.at, selection, wires])) return;
    this.ours = key;
    patch(change);
  }

  /** The sheet of a subsystem, which is shown then. */
  private async sheetOf(within: string, selection: string[]): Promise<Sheet | null> {
    const { sheet, opened } = now();
    if (!sheet || !opened || sheet.within === within) return sheet;
    let at = "";
    if (within) {
      const all = await connection.ask("contents", { path: opened.path }).catch(() => []);
      const user = all.find(({ type }) => type === within);
      if (!user) return null;
      at = pathOf(user.at, user.block);
    }
    this.ours = JSON.stringify([at, selection, []]);
    await showSheet(at, selection);
    return now().sheet;
  }
}
