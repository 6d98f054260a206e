// A state of a chart: its box, its name, its actions, and where it is entered.

import type { Node, NodeProps } from "@xyflow/react";
import { createContext, memo, useContext } from "react";

import type { ChartState } from "../protocol";
import { patch, useStudio } from "../store";
import { useActivity } from "./activity";
import { addState, addTransition, makeInitial, renameState } from "./editing";
import type { BeginLine } from "./lineDrag";

export type Shown = Node<{ state: ChartState; depth: number; readOnly: boolean }, "state">;
export const BeginContext = createContext<BeginLine>(() => undefined);
export const OverContext = createContext<string | null>(null);

export const StateNode = memo(function StateNode({ data: { state, depth, readOnly } }: NodeProps<Shown>) {
  const { path, head, y, width, number, lines, problems, entered } = state;
  const over = useContext(OverContext) === path;
  const active = useActivity((activity) => activity.states[path]);
  const trial = useStudio(({ trial }) => trial.find((one) => one.path === path || one.path?.startsWith(`${path}.`) && !one.path.startsWith(`${path}.states.`)));
  const problem = trial ?? problems[0];
  const kinds = [
    depth % 2 ? "odd" : "even", entered === "together" && "region", problem && "wrong", active && "active", over && "over",
  ].filter(Boolean).join(" ");
  return (
    <div className={`state ${kinds}`} title={problem?.message}>
      <Name state={state} readOnly={readOnly} />
      {active && active !== true && <span className="state-copies">{active}</span>}
      {number !== null && <span className="state-number" title={`the number of ${state.name} in the signal`}>{number}</span>}
      {lines.map(({ text, y: height }) => <span key={`${height}`} className="state-action" style={{ top: height - y }}>{text}</span>)}
      {problem && <span className="block-fault" aria-hidden="true">!</span>}
      <Marker state={state} readOnly={readOnly} />
      {!readOnly && <Outlet state={state} at={[state.x + width, head]} />}
    </div>
  );
});

/** The dot from which a transition is drawn. */
function Outlet({ state, at }: { state: ChartState; at: [number, number] }) {
  const begin = useContext(BeginContext);
  return (
    <span className="outlet nodrag nopan" aria-hidden="true" title={`Drag to a state: a transition from ${state.name}`} style={{ top: state.head - state.y }}
      onPointerDown={(event) => begin(event, at, (to) => void (to ? addTransition(state, to) : addState(undefined, state)))} />
  );
}

/** Where the state around it begins: a dot, or an H with history. */
function Marker({ state, readOnly }: { state: ChartState; readOnly: boolean }) {
  const begin = useContext(BeginContext);
  const { entered, name, parent } = state;
  if (entered !== "first" && entered !== "history") return null;
  const said = entered === "first" ? `${name} is entered first` : `${name} is entered first, later the state that was active last`;
  const drop = readOnly ? undefined : (event: React.PointerEvent) =>
    begin(event, [state.x - 22, state.head], (to) => void (to?.parent === parent && makeInitial(to)));
  return (
    <span className={`marker nodrag nopan ${entered}`} title={readOnly ? said : `${said}. Drag it to another state.`} style={{ top: state.head - state.y }} onPointerDown={drop}>
      {entered === "history" && "H"}
    </span>
  );
}

function Name({ state, readOnly }: { state: ChartState; readOnly: boolean }) {
  const { path, name, head, y } = state;
  const renaming = useStudio((one) => one.renaming === path) && !readOnly;
  const style = { top: head - y };
  if (!renaming) return <span className="state-name" style={style}>{name}</span>;
  return (
    <input className="state-name block-name nodrag nopan" style={style} aria-label={`New name of ${name}`} defaultValue={name} autoFocus spellCheck={false}
      onFocus={(event) => event.target.select()} onBlur={(event) => void renameState(state, event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") patch({ renaming: null });
        if (event.key !== "Tab" || event.shiftKey) return;
        event.preventDefault();
        void renameState(state, event.currentTarget.value.trim()).then(() => patch({ filling: "", fresh: null }));
      }} />
  );
}
