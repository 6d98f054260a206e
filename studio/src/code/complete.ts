// Completion in the text of a diagram, from what the server knows of it.

import type { Completion as Found, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { insertCompletionText, pickedCompletion } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";

import type { Completion } from "../protocol";
import { connection, now } from "../store";
import { rangeOf, type Writing, writingAt } from "./places";

export async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const { doc } = context.state;
  const writing = writingAt(doc, context.pos);
  const path = now().opened?.path;
  if (!writing || !path || context.state.readOnly) return null;
  if (!context.explicit && writing.typed === "" && !opensList(writing, doc.sliceString(context.pos - 2, context.pos))) return null;
  const kinds = writing.kind === "item" ? (["value", "key"] as const) : [writing.kind];
  const about = { path, keys: writing.path, given: writing.given, typed: writing.typed };
  const found = await Promise.all(kinds.map((kind) => connection.ask("complete", { ...about, kind }).catch(() => [])));
  if (context.aborted) return null;
  const options = found.flatMap((all, k) => all.filter((one) => !isOtherEnd(one, writing)).map((one) => option(one, kinds[k] === "key", writing)));
  const known = new Set(options.map(({ label }) => label));
  const more = writing.path.includes("wires") && !writing.typed.includes(".") ? typedBlocks(doc, writing).filter((name) => !known.has(name)) : [];
  return { from: writing.from, options: [...options, ...more.map((label) => ({ label }))], validFor: /^[\w$/*-]*$/ };
}

/** Whether a list opens by itself where nothing is typed: behind "key: " and "-> ". */
function opensList({ kind, path }: Writing, before: string): boolean {
  if (path.includes("wires")) return /[>,.] ?$/.test(before);
  return kind === "value" && before === ": " && ["type", "robot", "clock", "signal", "solver"].includes(String(path.at(-1)));
}

/** An output where an input is wanted, or the other way. */
function isOtherEnd({ detail }: Completion, { isTarget, path }: Writing): boolean {
  return path.includes("wires") && detail === (isTarget ? "output" : "input");
}

function option({ label, detail, doc }: Completion, isKey: boolean, writing: Writing): Found {
  const apply = isKey
    ? (view: EditorView, picked: Found, from: number, to: number): void => {
      const isThere = /^\s*:/.test(view.state.doc.sliceString(to, view.state.doc.lineAt(to).to));
      const text = isThere || (!writing.flow && writing.path.length === 0) ? `${label}${isThere ? "" : ":"}` : `${label}: `;
      view.dispatch({ ...insertCompletionText(view.state, text, from, to), annotations: pickedCompletion.of(picked) });
    }
    : undefined;
  return { label, detail, info: doc || undefined, apply, type: isKey ? "property" : undefined, boost: detail === "parameter" ? -5 : detail === "default" ? 5 : 0 };
}

/** The names of blocks of the sheet as the text has them, also such that the file does not have yet. */
function typedBlocks(doc: CompletionContext["state"]["doc"], { path }: Writing): string[] {
  const home = path.slice(0, path.indexOf("wires"));
  const range = rangeOf(doc, [...home, "blocks"]);
  if (!range?.whole) return [];
  const names: string[] = [];
  let column = -1;
  for (let k = range.first + 1; k <= range.last && names.length < 5000; k++) {
    const found = /^( +)([^\s#:"'{}[\]-][^\s:]*):(\s|$)/.exec(doc.line(k).text);
    if (!found) continue;
    if (column < 0) column = found[1]!.length;
    if (found[1]!.length === column) names.push(found[2]!);
  }
  return names;
}

