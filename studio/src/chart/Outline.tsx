// The states of a chart as a list, beside it.

import { patch, useStudio } from "../store";
import { useActivity } from "./activity";
import { addState, selectedState, stateAt } from "./editing";
import type { Chart, ChartState } from "../protocol";

export default function Outline() {
  const chart = useStudio((state) => state.sheet?.chart);
  const readOnly = useStudio((state) => state.sheet?.within === null);
  if (!chart) return null;
  return (
    <aside className="palette outline" aria-label="States">
      {!readOnly && (
        <div className="row">
          <button type="button" title="Beside the selected one (Ctrl+K)" onClick={() => void addState(selectedState()?.parent)}>Add state</button>
          <button type="button" title="In the selected one (S)" onClick={() => void addState(selectedState()?.path)}>Add substate</button>
        </div>
      )}
      <ul>{chart.states.map((state) => <Entry key={state.path} chart={chart} state={state} />)}</ul>
    </aside>
  );
}

function Entry({ chart, state }: { chart: Chart; state: ChartState }) {
  const selected = useStudio(({ selection }) => selection.includes(state.path));
  const active = useActivity(({ states }) => states[state.path] !== undefined);
  const choose = (): void => patch({ selection: [state.path], wires: [], reveal: [state.path] });
  const depth = depthOf(chart, state);
  return (
    <li style={{ paddingLeft: 14 * depth }}>
      <button type="button" aria-pressed={selected} className={[active && "active", state.problems.length > 0 && "wrong"].filter(Boolean).join(" ")} onClick={choose}>
        <span>{state.name}</span>
        <span className="state-number">{state.number}</span>
      </button>
    </li>
  );
}

function depthOf(chart: Chart, state: ChartState): number {
  const parent = stateAt(chart, state.parent);
  return parent ? depthOf(chart, parent) + 1 : 0;
}
