// The form of what is selected in a chart: a state, a transition, or the machine.

import { Tool } from "../app/Header";
import { CommittedInput } from "../forms/CommittedInput";
import { FieldInput } from "../forms/FieldInput";
import { useFilling } from "../forms/useForm";
import type { Chart, ChartState, ChartTransition, Field, Problem } from "../protocol";
import { whenEntered } from "../run/asking";
import { toggleBreakpoint, useBreakpoints } from "../run/breakpoints";
import { useStudio } from "../store";
import { removeSelected, renameState, renameValue, reorderSelected, stateAt, transitionAt } from "./editing";

export default function ChartForm() {
  const chart = useStudio((state) => state.sheet?.chart);
  const selection = useStudio((state) => state.selection);
  const readOnly = useStudio((state) => state.sheet?.within === null);
  useFilling(chart !== undefined);
  if (!chart) return null;
  return <Form chart={chart} selection={selection} readOnly={readOnly} />;
}

function Form({ chart, selection, readOnly }: { chart: Chart; selection: readonly string[]; readOnly: boolean }) {
  const [only] = selection;
  const state = stateAt(chart, only);
  const transition = transitionAt(chart, only);
  if (selection.length > 1) return <Several count={selection.length} readOnly={readOnly} />;
  if (state) return <StateForm key={state.path} state={state} readOnly={readOnly} />;
  if (transition) return <TransitionForm key={transition.path} chart={chart} one={transition} readOnly={readOnly} />;
  return <MachineForm chart={chart} readOnly={readOnly} />;
}

function Several({ count, readOnly }: { count: number; readOnly: boolean }) {
  return (
    <section className="form" aria-label="Selection">
      <h2>{count} selected</h2>
      {!readOnly && <button type="button" onClick={() => void removeSelected()}>Remove them</button>}
    </section>
  );
}

function StateForm({ state, readOnly }: { state: ChartState; readOnly: boolean }) {
  return (
    <section className="form" aria-label={`State ${state.name}`}>
      <CommittedInput className="form-name" aria-label="Name of the state" value={state.name} readOnly={readOnly}
        commit={(to) => renameState(state, to)} />
      <p className="form-type"><strong>state</strong><span>{aboutState(state)}</span></p>
      <Fields path={state.path} fields={state.fields} problems={state.problems} readOnly={readOnly} />
      {!readOnly && <Order what={`state ${state.name}`} />}
      <Pausing path={state.path} />
    </section>
  );
}

/** A breakpoint on a state. */
function Pausing({ path }: { path: string }) {
  const chart = useStudio((state) => state.sheet?.chart);
  const all = useBreakpoints(useStudio((state) => state.opened?.path) ?? "");
  const condition = chart && whenEntered(chart, path);
  if (!condition) return null;
  return (
    <button type="button" title="A breakpoint: runs pause there (F9)" aria-pressed={all.some((one) => one.condition === condition && one.enabled)}
      onClick={() => void toggleBreakpoint(condition)}>Pause when entered</button>
  );
}

function aboutState({ entered, number, parallel, open }: ChartState): string {
  const said = { first: "Entered first. ", history: "Entered first; later the state that was active last. ", together: "Active together with those beside it. ", "": "" };
  const inside = open ? (parallel ? "Its substates are active together." : "One of its substates is active.") : "";
  return `${said[entered]}${number === null ? inside : `Number ${number} in the signal.`}`;
}

function TransitionForm({ chart, one, readOnly }: { chart: Chart; one: ChartTransition; readOnly: boolean }) {
  const rivals = chart.transitions.filter(({ sources }) => sources.some((name) => one.sources.includes(name)));
  const order = rivals.length > 1 ? `Tried ${rivals.indexOf(one) + 1}. of ${rivals.length} of its state.` : "";
  return (
    <section className="form" aria-label={`Transition from ${one.sources.join(", ")} to ${one.target}`}>
      <h2>{one.sources.join(", ") || "?"} → {one.target || "?"}</h2>
      <p className="form-type"><strong>transition</strong><span>{order}</span></p>
      <Fields path={one.path} fields={one.fields} problems={one.problems} readOnly={readOnly} />
      {!readOnly && <Order what="transition" />}
    </section>
  );
}

function MachineForm({ chart, readOnly }: { chart: Chart; readOnly: boolean }) {
  return (
    <section className="form" aria-label={chart.name}>
      <h2>{chart.name}</h2>
      <p className="form-type"><strong>{chart.type}</strong></p>
      <p className="doc"><span>A double click on the chart adds a state, or a substate where it is on one.</span></p>
      <Fields path={chart.path} fields={chart.fields} problems={chart.problems} readOnly={readOnly} />
      {!readOnly && <Names chart={chart} />}
    </section>
  );
}

/** The names in its formulas, which are changed with their uses. */
function Names({ chart }: { chart: Chart }) {
  return (
    <details className="about">
      <summary>Rename inputs, outputs, variables and parameters</summary>
      {chart.values.map((path) => {
        const [kind, name] = path.split(".").slice(-2) as [string, string];
        return (
          <label className="definition" key={path}>{kind.replace(/s$/, "")}
            <CommittedInput aria-label={`New name of ${name}`} value={name} commit={(to) => renameValue(path, to)} />
          </label>
        );
      })}
    </details>
  );
}

/** Buttons that move what is selected among its own, and remove it. */
function Order({ what }: { what: string }) {
  return (
    <div className="row">
      <Tool icon="top" name={`Move the ${what} up`} keys="Ctrl+↑" onClick={() => void reorderSelected(-1)} />
      <Tool icon="bottom" name={`Move the ${what} down`} keys="Ctrl+↓" onClick={() => void reorderSelected(1)} />
      <Tool icon="close" name={`Remove the ${what}`} keys="Del" onClick={() => void removeSelected()} />
    </div>
  );
}

interface Fieldset {
  path: string;
  fields: readonly Field[];
  problems: readonly Problem[];
  readOnly: boolean;
}

function Fields({ path, fields, problems, readOnly }: Fieldset) {
  const at = useStudio((state) => state.sheet?.at);
  const all = useStudio((state) => state.opened?.problems) ?? [];
  const known = new Set(all.map(({ message }) => message));
  const isOf = (field: Field) => (problem: Problem): boolean =>
    isUnder(problem.path, field.path) || (problem.block === at && problem.path === undefined && problem.argument === field.name);
  // What a change of this field makes wrong elsewhere in the machine is told at the field.
  const isOwn = (field: Field) => (problem: Problem): boolean => isOf(field)(problem) || (problem.block === at && !known.has(problem.message));
  const others = problems.filter((problem) => !fields.some((field) => isOf(field)(problem)));
  return (
    <>
      {others.map(({ message, hint }) => <p className="wrong-text" key={message}>{message} <span className="hint">{hint}</span></p>)}
      {fields.map((field) => (
        <FieldInput key={`${path} ${field.name}`} field={field} readOnly={readOnly} problems={problems.filter(isOf(field))} isOwn={isOwn(field)} />
      ))}
    </>
  );
}

function isUnder(path: string | undefined, other: string): boolean {
  return path !== undefined && other !== "" && path.startsWith(other) && /^$|^[.[]/.test(path.slice(other.length));
}
