// One parameter: its value as text, what it means, and what is wrong with it while one types.

import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect, useId, useLayoutEffect, useRef, useState } from "react";

import { edit, tried } from "../actions";
import { Tool } from "../app/Header";
import type { Field, Operation, Problem } from "../protocol";
import { FieldTuner } from "../run/FieldTuner";
import { now, patch } from "../store";
import { yamlOfAssignments } from "./assignments";
import { fromYaml, toYaml, withCommas } from "./yaml";

interface Props {
  field: Field;
  /** What is wrong with the value in the file. */
  problems: readonly Problem[];
  /** Which problems of a diagram are about this field. */
  isOwn: (problem: Problem) => boolean;
  readOnly?: boolean;
  /** The fields of the same block. */
  beside?: readonly Field[];
  /** In place of its name, and what stands beside its value. */
  heading?: ReactNode;
  tools?: ReactNode;
}

const PAUSE = 250;

const ValueDialog = lazy(() => import("./ValueDialog"));

export function FieldInput({ field, problems, isOwn, readOnly, beside = [], heading, tools }: Props) {
  const id = useId();
  const [window, setWindow] = useState<string | null>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    if (window === null && wasOpen.current) document.getElementById(id)?.focus();
    wasOpen.current = window !== null;
  }, [window, id]);
  const row = useKeptFocus();
  const { draft, trial, change, commit, drop, isSent } = useDraft(field, isOwn);
  const wrong = draft === null ? problems[0] : trial;
  const shown = draft ?? shownOf(field);
  const common = {
    id, readOnly, value: shown, name: field.name, "data-draft": draft === null ? undefined : "",
    "aria-invalid": wrong ? true : undefined,
    "aria-required": field.required || undefined,
    "aria-describedby": `${id}-doc${wrong ? ` ${id}-wrong` : ""}`,
  };
  return (
    <div className={`field${wrong ? " wrong" : ""}`}>
      {heading}
      <label htmlFor={id} hidden={!!heading}>
        {field.name}
        {field.required && shown.trim() === "" && <abbr title="required">*</abbr>}
        {field.unit && <span className="unit">{field.unit}</span>}
      </label>
      <div className="field-row" {...row}>
        {draft === null && isListed(field, shown) ? (
          <select {...common} disabled={readOnly} onChange={(event) => void commit(event.target.value)}>
            <option value="" hidden={field.required && field.text !== null}>{field.default ? `${fromYaml(field.default)} (default)` : ""}</option>
            {choicesOf(field).filter((choice) => choice === shown || choice !== fromYaml(field.default)).map((choice) => <option key={choice}>{choice}</option>)}
          </select>
        ) : (
          <Text common={common} field={field} change={change} commit={commit} drop={drop} isSent={isSent}
            open={hasWindow(field) && !readOnly ? () => setWindow(yamlOf(field, shown)) : undefined} />
        )}
        {hasWindow(field) && !readOnly && (
          <Tool icon="window" name={`Open ${field.name} in a window`} keys="F4" aside onClick={() => setWindow(yamlOf(field, shown))} />
        )}
        {tools}
        {field.text !== null && !field.required && !readOnly && (
          <button type="button" className="unset" title="Back to the default" aria-label={`Back to the default of ${field.name}`}
            onClick={() => void commit("")}>×</button>
        )}
      </div>
      {window !== null && (
        <Suspense>
          <ValueDialog field={field} text={window} beside={beside.length ? beside : [field]} isOwn={isOwn}
            onClose={() => { drop(); setWindow(null); }} />
        </Suspense>
      )}
      {wrong && <p className="wrong-text" id={`${id}-wrong`} role="alert">{wrong.message} {wrong.hint && <span className="hint">{wrong.hint}</span>}</p>}
      <FieldTuner field={field} />
      <p className="doc" id={`${id}-doc`}>{withoutUnit(field)}</p>
    </div>
  );
}

interface TextProps {
  common: { id: string; name: string; value: string; readOnly?: boolean; "data-draft": string | undefined };
  field: Field;
  change: (text: string) => void;
  commit: (text: string) => Promise<void>;
  drop: () => void;
  isSent: () => boolean;
  /** Opens its window. */
  open?: () => void;
}

function Text({ common, field, change, commit, drop, isSent, open }: TextProps) {
  const isDraft = common["data-draft"] !== undefined;
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>): void => {
    if (open && (event.key === "F4" || (event.key === "Enter" && event.altKey))) {
      event.preventDefault();
      open();
    } else if (event.key === "Enter" && !event.shiftKey) {
      if (!event.ctrlKey && !event.metaKey) event.preventDefault(); // these run the diagram
      void commit(event.currentTarget.value);
    }
    if (event.key === "Escape" && isDraft && !isSent()) drop();
    else if (event.key === "Escape") event.currentTarget.blur(); // back to the sheet
  };
  const all = {
    ...common, onKeyDown, spellCheck: false, autoComplete: "off", placeholder: field.default,
    onChange: (event: { target: { value: string } }) => change(event.target.value),
    onBlur: (event: { target: { value: string } }) => void commit(event.target.value),
  };
  return <textarea {...all} rows={rowsOf(common.value)} />;
}

/** Whether a window has more room for its values: lists, matrices, formulas and texts. */
function hasWindow({ kind, choices }: Field): boolean {
  return choices.length === 0 && ["array", "text", "any"].includes(kind);
}

/** What is typed, as the file has it. */
function yamlOf({ kind }: Field, typed: string): string {
  return kind === "text" && typed.trim() ? toYaml(typed) : typed;
}

const SHORT = 60;
const MOST_ROWS = 10;

/** One row for a short value, more for a long one. It is one element for all lengths, so that the
 * focus and the caret stay while one types. */
function rowsOf(text: string): number {
  const lines = text.split("\n").length;
  return lines === 1 && text.length <= SHORT ? 1 : Math.min(MOST_ROWS, Math.max(lines, 3));
}

/** Keeps the focus within a row when the element that has it becomes another: without it the focus
 * falls to the page, where the next keys are shortcuts. */
function useKeptFocus() {
  const ref = useRef<HTMLDivElement>(null);
  const has = useRef(false); // React tells no blur of an element that it removes
  useLayoutEffect(() => {
    if (has.current && document.activeElement === document.body) ref.current?.querySelector<HTMLElement>("[name]")?.focus();
  });
  return { ref, onFocus: () => { has.current = true; }, onBlur: () => { has.current = false; } };
}

/** What is typed and not yet in the file, tried while one types. It stays when an answer, or a change
 * from elsewhere, gives the field another value meanwhile. */
function useDraft(field: Field, isOwn: (problem: Problem) => boolean) {
  const [draft, setDraft] = useState<string | null>(null);
  const [trial, setTrial] = useState<Problem | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef("");
  const sent = useRef<string | null>(null);
  const written = useRef<string | null>(null); // and not yet in the form
  const present = useRef(field);
  present.current = field;
  const drop = (): void => {
    clearTimeout(timer.current);
    latest.current = "";
    written.current = null;
    setDraft(null);
    setTrial(undefined);
    if (now().trial.length) patch({ trial: [] });
  };
  useEffect(() => drop, [field.path]);
  useEffect(() => {
    if (latest.current === shownOf(field) || latest.current === written.current) drop();
  }, [field]);
  const tryIt = async (text: string): Promise<void> => {
    if (isMissing(field, text)) return setTrial(missing(field));
    const wrong = unreadable(field, text);
    if (wrong) return setTrial(wrong);
    const { problems, refused } = await tried(...operationsFor(field, text));
    if (latest.current !== text) return;
    setTrial(refused ?? problems.find(isOwn));
    patch({ trial: problems.filter(isOwn) });
  };
  const change = (text: string): void => {
    latest.current = text;
    setDraft(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void tryIt(text), PAUSE);
  };
  const commit = async (text: string): Promise<void> => {
    if (text === sent.current) return;
    if (text === shownOf(field)) return drop();
    clearTimeout(timer.current);
    latest.current = text;
    if (!isMissing(field, text) && !unreadable(field, text)) {
      const operations = operationsFor(field, text);
      sent.current = text;
      const done = await edit(...operations);
      sent.current = null;
      if (latest.current !== text) return; // more was typed since
      // The field shows what was typed until its form has it, so that the caret stays.
      const isShown = present.current !== field || operations.every((one) => "text" in one && one.text === field.text);
      if (done && isShown) return drop();
      if (done) return void (written.current = text);
    }
    setDraft(text);
    await tryIt(text);
  };
  /** Whether what is typed is being written, so that Escape cannot take it back. */
  const isSent = (): boolean => sent.current !== null && sent.current === latest.current;
  return { draft, trial, change, commit, drop, isSent };
}

/** What a field cannot do without is not taken out of the file by emptying it. */
function isMissing({ required }: Field, typed: string): boolean {
  return required && typed.trim() === "";
}

function missing(field: Field): Problem {
  return { message: "a value is needed here", hint: `Escape gives back ${shownOf(field)}` };
}

/** What is wrong with a text that is no value at all. */
function unreadable({ kind }: Field, typed: string): Problem | undefined {
  try {
    if (kind === "actions") yamlOfAssignments(typed);
    return undefined;
  } catch (error) {
    return { message: (error as Error).message };
  }
}

function operationsFor({ kind, path, text }: Field, typed: string): Operation[] {
  if (typed.trim() === "") return text === null ? [] : [{ op: "unset", path }];
  if (kind === "actions") return [{ op: "set", path, text: yamlOfAssignments(typed) }];
  const isText = kind === "text" || kind === "choice";
  return [{ op: "set", path, text: isText ? toYaml(typed) : withCommas(typed.trim()) }];
}

function shownOf({ kind, text }: Field): string {
  if (text === null) return "";
  return kind === "text" || kind === "choice" ? fromYaml(text) : text;
}

/** What the field means; its unit stands beside its name. */
function withoutUnit({ doc, unit }: Field): string {
  return unit && doc.endsWith(`[${unit}]`) ? doc.slice(0, -unit.length - 2).trimEnd() : doc;
}

function choicesOf({ kind, choices }: Field): readonly string[] {
  return kind === "flag" ? ["true", "false", ...choices] : choices;
}

/** Whether the value is chosen from a list; another than those of the list is typed. */
function isListed(field: Field, shown: string): boolean {
  const choices = choicesOf(field);
  return choices.length > 0 && (shown === "" || choices.includes(shown));
}
