// A part of a text: only its lines are shown, and only these can be changed.

import { EditorState, type Extension, type Range as Marked, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";

import { Elsewhere } from "./link";
import { type Path, rangeOf } from "./places";

interface Span {
  from: number;
  to: number;
}

const setPart = StateEffect.define<Span | null>();
const setChosen = StateEffect.define<Span | null>();

const hidden = Decoration.replace({ block: true });
const chosenLine = Decoration.line({ class: "cm-chosen" });
const MOST_LINES = 500;

function spanField(effect: typeof setPart): StateField<Span | null> {
  return StateField.define<Span | null>({
    create: () => null,
    update(span, transaction) {
      for (const one of transaction.effects) if (one.is(effect)) return one.value;
      if (!span || !transaction.docChanged) return span;
      const { changes } = transaction;
      return { from: changes.mapPos(span.from, -1), to: changes.mapPos(span.to, 1) };
    },
  });
}

const partField = spanField(setPart);
const chosenField = spanField(setChosen);

const around = EditorView.decorations.compute([partField], (state) => {
  const part = state.field(partField);
  if (!part) return Decoration.none;
  const found: Marked<Decoration>[] = [];
  if (part.from > 0) found.push(hidden.range(0, part.from - 1));
  if (part.to < state.doc.length) found.push(hidden.range(part.to + 1, state.doc.length));
  return Decoration.set(found);
});

const chosen = EditorView.decorations.compute([chosenField, "doc"], (state) => {
  const span = state.field(chosenField);
  if (!span) return Decoration.none;
  const found: Marked<Decoration>[] = [];
  const { doc } = state;
  for (let { number } = doc.lineAt(Math.min(span.from, doc.length)); number <= doc.lines && found.length < MOST_LINES; number++) {
    const line = doc.line(number);
    if (line.from > span.to) break;
    found.push(chosenLine.range(line.from));
  }
  return Decoration.set(found);
});

/** Only the part is changed by hand, and the caret stays in it. */
const guard = EditorState.changeFilter.of((transaction) => {
  const part = transaction.startState.field(partField);
  if (!part || transaction.annotation(Elsewhere)) return true;
  return [0, part.from, part.to, transaction.startState.doc.length];
});

const stay = EditorState.transactionFilter.of((transaction) => {
  if (!transaction.selection || transaction.annotation(Elsewhere)) return transaction;
  const part = transaction.state.field(partField);
  if (!part) return transaction;
  const clamp = (at: number): number => Math.min(Math.max(at, part.from), part.to);
  const { ranges } = transaction.selection;
  if (ranges.every(({ from, to }) => from >= part.from && to <= part.to)) return transaction;
  const { anchor, head } = transaction.selection.main;
  return [transaction, { selection: { anchor: clamp(anchor), head: clamp(head) }, sequential: true }];
});

export const parts: Extension = [partField, chosenField, around, chosen, guard, stay];

/** The lines of the entry at a path, with the comment above it. */
export function spanOf(state: EditorState, path: Path): Span | null {
  const { doc } = state;
  const range = rangeOf(doc, path);
  if (!range) return null;
  let { first } = range;
  while (first > 1 && new RegExp(`^ {${range.column}}#`).test(doc.line(first - 1).text)) first--;
  return { from: doc.line(first).from, to: doc.line(range.last).to };
}

/** Show only the entry at a path; null for all. Without such an entry, what is shown stays. */
export function showPart(view: EditorView, path: Path | null): void {
  const span = path && spanOf(view.state, path);
  if (path && !span) return;
  const effects = [setPart.of(span)];
  const { head } = view.state.selection.main;
  const isIn = !span || (head >= span.from && head <= span.to);
  view.dispatch({ effects, annotations: Elsewhere.of(true), selection: isIn ? undefined : { anchor: span.from } });
}

/** Mark the lines of an entry. */
export function choose(view: EditorView, path: Path | null): void {
  view.dispatch({ effects: setChosen.of(path && spanOf(view.state, path)), annotations: Elsewhere.of(true) });
}
