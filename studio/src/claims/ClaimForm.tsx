// A claim to add or to change: its kind, its signal, and its values, which a run suggests.

import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

import { edit, tried } from "../actions";
import { fromYaml } from "../forms/yaml";
import type { Claim, ClaimKind, Field, Operation, Problem, Run, Suggested } from "../protocol";
import { useRun } from "../run/book";
import type { Runs } from "../run/runs";
import { now } from "../store";
import { adding, changing, textsOf, type Texts, unitOf } from "./claim";
import { suggestions } from "./tests";

interface Props {
  runs: Runs;
  kinds: readonly ClaimKind[];
  claims: readonly Claim[];
  /** The claim that is changed; without, one is added, about a signal that may be given. */
  claim?: Claim | undefined;
  signal?: string | undefined;
  onClose: () => void;
}

export function ClaimForm({ runs, kinds, claims, claim, signal: first = "", onClose }: Props) {
  const [chosen, setKind] = useState(claim?.kind ?? "final");
  const [typed, setTyped] = useState<Texts>(claim ? textsOf(claim.fields) : { signal: first });
  const [problem, setProblem] = useState<Problem | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const kind = kinds.find((one) => one.kind === chosen) ?? kinds[0]!;
  const signal = typed["signal"]?.trim() ?? "";
  const suggested = useSuggested(runs, claim || !kind.several ? "" : signal);
  const texts: Texts = { ...shownOf(suggested?.[chosen]), ...typed };
  const run = useRun(runs);
  const about = run?.signals.find(({ name }) => name === signal.replace(/\[.*/, ""));
  const unit = about?.unit ?? claim?.unit ?? "";
  useEffect(() => form.current?.querySelector<HTMLElement>("select, input")?.focus(), []);

  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const operations = claim ? changing(claim, texts) : adding(kind, texts);
    const wrong = await firstMistake(operations);
    setProblem(wrong);
    if (!wrong && (operations.length === 0 || (await edit(...operations)))) onClose();
  };
  const set = (name: string, text: string): void => setTyped({ ...typed, [name]: text });
  const choose = (next: string): void => {
    setKind(next);
    setTyped({ signal: typed["signal"] ?? "" });
  };
  return (
    <form ref={form} className="claim-form" aria-label={claim ? "Change the claim" : "New claim"} onSubmit={(event) => void save(event)}
      onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <label>
        <span>claim</span>
        <select value={chosen} disabled={claim !== undefined} onChange={({ target }) => choose(target.value)}>
          {kinds.map((one) => (
            <option key={one.kind} value={one.kind} disabled={!claim && !one.several && claims.some((other) => other.kind === one.kind)}>
              {`${one.kind}: ${one.doc}`}
            </option>
          ))}
        </select>
      </label>
      {kind.fields.map((field) => (
        <Value key={`${chosen} ${field.name}`} field={field} text={texts[field.name] ?? ""} unit={unitOf(field, unit)} onChange={(text) => set(field.name, text)}
          list={field.name === "signal" ? <SignalNames runs={runs} /> : null} />
      ))}
      {kind.several && !claim && <p className="note">{suggested && run ? originOf(run) : "A run of the diagram suggests values."}</p>}
      {problem && <p className="wrong-text" role="alert">{problem.message} <span className="hint">{problem.hint}</span></p>}
      <div className="row">
        <button type="submit" className="primary">{claim ? "Change the claim" : "Add the claim"}</button>
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </form>
  );
}

/** Where suggested values are from, and what the test does not know. */
function originOf({ label, tuned }: Run): string {
  const names = Object.keys(tuned);
  const not = names.length ? ` ${names.join(", ")} ${names.length > 1 ? "were" : "was"} tuned in it: keep this in the file before the test.` : "";
  return `The values hold for ${label}, with some room.${not}`;
}

function shownOf(texts: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fromYaml(text)]));
}

interface ValueProps {
  field: Field;
  text: string;
  unit: string;
  onChange: (text: string) => void;
  list: ReactNode;
}

function Value({ field: { name, doc, choices, required, default: otherwise }, text, unit, onChange, list }: ValueProps) {
  const id = useId();
  const common = { value: text, required, title: doc };
  return (
    <label>
      <span>{name}{required && <abbr title="required">*</abbr>} <span className="unit">{unit}</span></span>
      {choices.length ? (
        <select {...common} onChange={({ target }) => onChange(target.value)}>
          {!text && <option value="" />}
          {choices.map((choice) => <option key={choice}>{choice}</option>)}
        </select>
      ) : (
        <input {...common} placeholder={otherwise} spellCheck={false} autoComplete="off" list={list ? id : undefined}
          onChange={({ target }) => onChange(target.value)} />
      )}
      {list && <datalist id={id}>{list}</datalist>}
    </label>
  );
}

/** The signals that a claim can be about: those of the run, or without one those of the wires. */
function SignalNames({ runs }: { runs: Runs }) {
  const run = useRun(runs);
  const names = run?.signals.length ? run.signals.map(({ name }) => name) : (now().sheet?.wires ?? []).flatMap(({ signal }) => signal ?? []);
  return <>{[...new Set(names)].map((name) => <option key={name} value={name} />)}</>;
}

/** Claims that hold for a signal of the run that is shown; null without a run, or without any. */
function useSuggested(runs: Runs, signal: string): Suggested | null {
  const run = useRun(runs);
  const number = run && run.state !== "preparing" ? run.run : null;
  const key = `${number} ${signal} ${run?.state}`;
  const [found, setFound] = useState<[string, Suggested | null]>(["", null]);
  useEffect(() => {
    if (number === null || !signal) return;
    const timer = setTimeout(() => void suggestions(runs.path, number, signal).then((all) => setFound([key, all])), 150);
    return () => clearTimeout(timer);
  }, [runs, number, signal, key]);
  return found[0] === key ? found[1] : null;
}

/** The first mistake that operations would bring which the diagram does not have yet. */
async function firstMistake(operations: readonly Operation[]): Promise<Problem | null> {
  if (operations.length === 0) return null;
  const { problems, refused } = await tried(...operations);
  const known = new Set((now().opened?.problems ?? []).map(({ message }) => message));
  return refused ?? problems.find(({ message }) => !known.has(message)) ?? null;
}
