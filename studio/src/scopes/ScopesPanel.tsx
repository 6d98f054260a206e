// All scopes of what is shown, and how they show time.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";

import { setText } from "../../../viewer/src/dom";
import { valueText } from "../../../viewer/src/numbers";
import { useRunsState } from "../run/book";
import { atNextFrame } from "../run/frames";
import type { Runs } from "../run/runs";
import { withScope } from "./edit";
import { shifted, zoomed } from "./looking";
import { Scope } from "./Scope";
import "./scopes.css";

export function ScopesPanel({ runs }: { runs: Runs }) {
  const scopes = useRunsState(runs, (state) => state.scopes);
  return (
    <div className="scopes" onKeyDown={(event) => press(event, runs)}>
      <LookingBar runs={runs} />
      <div className="scopes-list">
        {scopes.map((scope) => <Scope key={scope.id} runs={runs} scope={scope} />)}
      </div>
    </div>
  );
}

function LookingBar({ runs }: { runs: Runs }) {
  const looking = useRunsState(runs, (state) => state.looking);
  const { start, end } = runs.timeline;
  return (
    <div className="looking" role="toolbar" aria-label="Time axis">
      <button type="button" aria-pressed={looking.how === "whole"} title="All of the run (0)" onClick={() => runs.patch({ looking: { how: "whole" } })}>
        Whole
      </button>
      <button type="button" aria-pressed={looking.how === "follow"} title="The last seconds (f)" onClick={() => follow(runs)}>
        Follow
      </button>
      {looking.how === "follow" && (
        <label>
          <span className="unseen">Seconds that are shown</span>
          <Seconds seconds={looking.seconds} onChange={(seconds) => runs.patch({ looking: { how: "follow", seconds } })} /> s
        </label>
      )}
      <button type="button" title="Nearer (+)" aria-label="Nearer" onClick={() => zoom(runs, 0.5)}>+</button>
      <button type="button" title="Farther (−)" aria-label="Farther" onClick={() => zoom(runs, 2)}>−</button>
      <Measure runs={runs} />
      <button type="button" onClick={() => runs.patch({ scopes: withScope(runs.state.scopes) })}>Add a scope</button>
      <span className="looking-hint">{end > start ? "Drag to zoom, double click to reset, click to go to a time" : ""}</span>
    </div>
  );
}

/** How many seconds are shown; while one types it is not written anew. */
function Seconds({ seconds, onChange }: { seconds: number; onChange: (seconds: number) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input type="number" min="0" step="any" value={typed ?? Number(seconds.toPrecision(3))} onBlur={() => setTyped(null)}
      onChange={({ target }) => {
        setTyped(target.value);
        if (target.valueAsNumber > 0) onChange(target.valueAsNumber);
      }} />
  );
}

/** Differences to the time that is shown from the one that was when it was pressed. */
function Measure({ runs }: { runs: Runs }) {
  const mark = useRunsState(runs, (state) => state.mark);
  const text = useRef<HTMLOutputElement>(null);
  useEffect(() => {
    const show = (): void => {
      if (text.current && mark !== null) setText(text.current, `Δt ${valueText(runs.timeline.time - mark)} s`);
    };
    show();
    return runs.timeline.hear(() => atNextFrame(show));
  }, [runs, mark]);
  return (
    <>
      <button type="button" aria-pressed={mark !== null} title="Differences from here to the time that is shown (m; Shift and click in a scope)"
        onClick={() => measure(runs)}>
        Measure from here
      </button>
      {mark !== null && <output ref={text} aria-live="off" />}
    </>
  );
}

function measure(runs: Runs): void {
  runs.patch({ mark: runs.state.mark === null ? runs.timeline.time : null });
}

function follow(runs: Runs): void {
  const [from, to] = runs.view;
  const seconds = Math.max((to - from) / 4, 1e-6);
  runs.patch({ looking: { how: "follow", seconds: Number(seconds.toPrecision(2)) } });
}

function zoom(runs: Runs, factor: number): void {
  const looking = zoomed(runs.state.looking, runs.view, runs.wholeView, factor, runs.timeline.time);
  runs.patch({ looking });
}


/** Keys of scopes: the cursor of time, nearer and farther. */
function press(event: KeyboardEvent, runs: Runs): void {
  const { target, key } = event;
  if (!(target as Element).classList.contains("scope-plot")) return; // perhaps of another window
  const step = event.shiftKey ? 0.001 : 0.01;
  const [from, to] = runs.view;
  const by = (share: number): void => runs.timeline.goTo(runs.timeline.time + share * (to - from));
  const actions: Record<string, () => void> = {
    ArrowLeft: () => by(-step),
    ArrowRight: () => by(step),
    PageUp: () => runs.patch({ looking: shifted(runs.view, runs.wholeView, 0.5) }),
    PageDown: () => runs.patch({ looking: shifted(runs.view, runs.wholeView, -0.5) }),
    Home: () => runs.timeline.goTo(runs.timeline.start),
    End: () => runs.timeline.goAlong(),
    " ": () => runs.timeline.toggle(),
    "+": () => zoom(runs, 0.5),
    "=": () => zoom(runs, 0.5),
    "-": () => zoom(runs, 2),
    "0": () => runs.patch({ looking: { how: "whole" } }),
    f: () => follow(runs),
    m: () => measure(runs),
  };
  const action = actions[key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  action();
  event.preventDefault();
}
