// The text of the open file, or a part of it, in an editor. Loaded when it is first needed:
// `lazy(() => import("../code/CodeEditor"))`.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore, insertNewlineAndIndent, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useRef } from "react";

import { redo as redoInFile, undo as undoInFile } from "../actions";
import type { Problem } from "../protocol";
import { now, useStudio } from "../store";
import { complete } from "./complete";
import { Following } from "./follow";
import { Elsewhere, Link, type Status } from "./link";
import { parts, showPart } from "./part";
import { type Path, rangeOf } from "./places";
import "./styles";

interface Props {
  /** The path in the file of what is shown, as ["blocks", "ctrl"]; null for the whole. */
  part?: Path | null;
  name: string;
  /** Whether the caret and the selection of the sheet follow each other. */
  follows?: boolean;
  onStatus?: (status: Status) => void;
  /** Escape, and Ctrl+E. */
  onLeave?: (close: boolean) => void;
  autoFocus?: boolean;
}

export default function CodeEditor(props: Props) {
  const path = useStudio((state) => state.opened?.path);
  return path === undefined ? null : <Editor key={path} path={path} {...props} />;
}

function Editor({ path, part = null, name, follows, onStatus, onLeave, autoFocus }: Props & { path: string }) {
  const home = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const given = useRef({ onStatus, onLeave, part });
  given.current = { onStatus, onLeave, part };
  useEffect(() => {
    const past = new Compartment();
    const locked = new Compartment();
    let known: Status | null = null;
    const link = new Link(path, (status) => {
      if (status.problems !== known?.problems) editor.dispatch(setDiagnostics(editor.state, diagnosed(editor.state.doc, status)));
      if (status.state !== known?.state) editor.dispatch({ effects: locked.reconfigure(EditorState.readOnly.of(status.state === "loading" || status.state === "foreign")) });
      if (status.state === "same" && known?.state === "typed" && editor.hasFocus) following?.moved(); // to what is new on the sheet
      const isNew = status.state !== "loading" && status.path !== known?.path;
      known = status;
      if (isNew) {
        if (given.current.part) showPart(editor, given.current.part);
        following?.look(true);
      }
      given.current.onStatus?.(status);
    }, () => {
      editor.dispatch({ effects: past.reconfigure([]) });
      editor.dispatch({ effects: past.reconfigure(history()) });
    });
    const leave = (close: boolean) => (): boolean => {
      given.current.onLeave?.(close);
      return given.current.onLeave !== undefined;
    };
    const editor = new EditorView({
      parent: home.current!,
      state: EditorState.create({
        extensions: [
          past.of(history()),
          locked.of(EditorState.readOnly.of(true)),
          lineNumbers(), highlightActiveLineGutter(), foldGutter(), lintGutter(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(),
          yaml(), indentUnit.of("  "), syntaxHighlighting(classHighlighter), highlightSelectionMatches(), search({ top: true }),
          autocompletion({ override: [complete], icons: false, activateOnTyping: true }),
          parts,
          EditorView.contentAttributes.of({ tabindex: "0", "aria-label": name, spellcheck: "false" }),
          keymap.of([
            { key: "Mod-s", run: () => { void link.write(true); return true; }, preventDefault: true },
            { key: "Mod-z", run: (target) => undoDepth(target.state) > 0 ? undo(target) : later(undoInFile), preventDefault: true },
            { key: "Mod-y", mac: "Mod-Shift-z", run: (target) => redoDepth(target.state) > 0 ? redo(target) : later(redoInFile), preventDefault: true },
            { key: "Mod-Shift-z", run: (target) => redoDepth(target.state) > 0 ? redo(target) : later(redoInFile), preventDefault: true },
            { key: "Mod-e", run: leave(true) },
            ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap,
            { key: "Enter", run: insertNewlineAndIndent },
            { key: "Tab", run: indentMore, shift: indentLess },
            { key: "Escape", run: leave(false) },
            ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), ...historyKeymap,
          ]),
          EditorView.domEventHandlers({ blur: () => { void link.write(); } }),
          EditorView.updateListener.of((update) => {
            link.update(update);
            if (update.transactions.some((one) => one.annotation(Elsewhere))) return;
            if (update.selectionSet && update.view.dom.contains(document.activeElement)) following?.moved(); // or the focus is in its search
          }),
        ],
      }),
    });
    const following = follows ? new Following(editor) : null;
    const warn = (event: BeforeUnloadEvent): void => {
      if (link.isDirty) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    view.current = editor;
    link.begin(editor);
    if (autoFocus) editor.focus();
    return () => {
      removeEventListener("beforeunload", warn);
      link.close();
      following?.close();
      editor.destroy();
    };
  }, [path, name, follows, autoFocus]);
  const key = part && JSON.stringify(part);
  useEffect(() => {
    if (view.current) showPart(view.current, given.current.part);
  }, [key]);
  return <div className="code" ref={home} />;
}

function later(what: () => Promise<void>): boolean {
  void what();
  return true;
}

const MOST_SHOWN = 200;

/** What is wrong, at its places in the text. */
function diagnosed(doc: Text, { problems, path }: Status): Diagnostic[] {
  return problems.slice(0, MOST_SHOWN).map((problem) => {
    const { message, hint } = problem;
    return { ...placeOf(doc, problem, path), severity: "error" as const, message: hint ? `${message}\n${hint}` : message };
  }).sort((a, b) => a.from - b.from);
}

function placeOf(doc: Text, { place, block, argument }: Problem, path: string): { from: number; to: number } {
  const found = /^(.*?):(\d+)(?::(\d+))?$/.exec(place ?? "");
  if (found && (found[1] === path || found[1]!.endsWith(`/${path}`))) {
    const line = doc.line(Math.min(Number(found[2]), doc.lines));
    const from = Math.min(line.from + Number(found[3] ?? 1) - 1, line.to);
    const word = /^("[^"]*"|'[^']*'|[^\s,\]}]+)/.exec(line.text.slice(from - line.from))?.[0].length ?? 0;
    return word ? { from, to: from + word } : { from: line.from + line.text.search(/\S|$/), to: line.to };
  }
  const within = now().sheet?.within;
  const name = block?.split("/").at(-1);
  const home = within && now().sheet?.at === block?.split("/").slice(0, -1).join("/") ? ["subsystems", within] : [];
  const range = name === undefined ? null : rangeOf(doc, [...home, "blocks", name, ...(argument ? [argument] : [])]);
  const line = doc.line(range?.first ?? 1);
  return { from: line.from + line.text.search(/\S|$/), to: line.to };
}
