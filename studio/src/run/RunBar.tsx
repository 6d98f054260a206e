// The bar of runs: run, pause, stop, speed, what the run does in words, and the time that is shown.

import { timeText } from "../../../viewer/src/clock";
import { type Command, useCommands } from "../app/keys";
import type { Run } from "../protocol";
import { useStudio } from "../store";
import { shownRuns, useLoop, useRun, useRuns, useRunsState } from "./book";
import { detach } from "./loops";
import { mistakesOf, runOrPause, setSpeed, stop } from "./requests";
import type { Runs } from "./runs";
import "./run.css";
import { TimeBar } from "./TimeBar";

const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10];

export function RunBar() {
  const runs = useRuns();
  const loop = useLoop();
  useCommands(COMMANDS);
  if (!runs) return <div className="run-bar" role="group" aria-label="Run" />;
  return (
    <div className="run-bar" role="group" aria-label="Run">
      {loop === null ? <Buttons runs={runs} /> : <OfLoop name={loop} />}
      <TimeBar runs={runs} />
    </div>
  );
}

function Buttons({ runs }: { runs: Runs }) {
  const shown = useRun(runs);
  const state = shown?.state;
  const going = state === "running" || state === "paused" || state === "preparing";
  const main = state === "running" ? "Pause" : state === "paused" ? "Resume" : "Run";
  const mistakes = useStudio(() => mistakesOf(runs));
  const refused = main === "Run" && mistakes !== "";
  return (
    <>
      <button type="button" className="run-button" title={refused ? `It runs when ${mistakes} mended` : `${main} (Ctrl+Enter)`}
        disabled={state === "preparing"} aria-disabled={refused || undefined}
        onClick={() => runOrPause(runs)}>
        <Picture name={main === "Pause" ? "pause" : "play"} /> {main}
      </button>
      <button type="button" className="run-button" title="Stop (Ctrl+.)" disabled={!going} onClick={() => stop(runs)}>
        <Picture name="stop" /> Stop
      </button>
      <Speed runs={runs} />
      <Until runs={runs} />
      {shown && <Doing run={shown} />}
    </>
  );
}

function Speed({ runs }: { runs: Runs }) {
  const speed = useRunsState(runs, (state) => state.speed);
  return (
    <label className="run-speed">
      <span>Speed</span>
      <select value={speed ?? "fast"} onChange={({ target }) => setSpeed(runs, target.value === "fast" ? null : Number(target.value))}>
        {SPEEDS.map((one) => <option key={one} value={one}>{one} × real time</option>)}
        <option value="fast">as fast as it goes</option>
      </select>
    </label>
  );
}

/** The end of the next run; empty for the one of the file. */
function Until({ runs }: { runs: Runs }) {
  const T = useRunsState(runs, (state) => state.T);
  const ofFile = useStudio((state) => state.opened?.run.T);
  return (
    <label className="run-until">
      <span>until</span>
      <input type="number" min="0" step="any" placeholder={ofFile === undefined ? "" : seconds(ofFile)} title="The end of the next run; the file's own where it is empty"
        defaultValue={T ?? ""}
        onChange={({ target }) => runs.patch({ T: target.valueAsNumber > 0 ? target.valueAsNumber : null })} />
      <span>s</span>
    </label>
  );
}

const WORDS: Record<Run["state"], string> = {
  preparing: "preparing",
  running: "running",
  paused: "paused",
  ended: "ended",
  failed: "failed",
};

function Doing({ run: shown }: { run: Run }) {
  const { start, t, T, state, stopped, problem, warnings } = shown;
  const more = problem?.message ?? stopped;
  const begun = state !== "preparing";
  return (
    <span className={`run-state ${state}`}>
      <progress aria-label="Progress" max={Math.max(T - start, 1e-9)} value={begun ? Math.min(t, T) - start : undefined} />
      <span role="status">{WORDS[state]}</span>
      {begun && <span className="run-time">{`${timeText(t, T - start)} of ${seconds(T)} s`}</span>}
      {more && <span className="run-more" title={[more, problem?.hint].filter(Boolean).join("\n")}>{more}</span>}
      {warnings.length > 0 && (
        <details className="run-warnings">
          <summary>{warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`}</summary>
          <ul>{warnings.map((warning) => <li key={warning}>{warning}</li>)}</ul>
        </details>
      )}
    </span>
  );
}

function OfLoop({ name }: { name: string }) {
  return (
    <span className="run-state">
      <span role="status">{`Watching the loop ${name}`}</span>
      <button type="button" onClick={() => void detach()}>Back to the diagram</button>
    </span>
  );
}

export function seconds(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** What keys do, wherever one is. */
function withShown(what: (runs: Runs) => void, alsoLoops = false): () => void {
  return () => {
    const runs = shownRuns();
    if (runs && (alsoLoops || !runs.path.startsWith("loop:"))) what(runs);
  };
}

const COMMANDS: [string, Command[]][] = [
  ["Run", [
    { keys: ["Ctrl+Enter"], what: "run, pause, go on", run: withShown(runOrPause) },
    { keys: ["Ctrl+."], what: "stop", run: withShown(stop) },
    { keys: ["P"], what: "play the record, or stop playing", run: withShown(({ timeline }) => timeline.toggle(), true) },
    { keys: [","], what: "back by a hundredth", run: withShown(({ timeline }) => timeline.step(-0.01), true) },
    { keys: ["."], what: "forth by a hundredth", run: withShown(({ timeline }) => timeline.step(0.01), true) },
  ]],
];

const PICTURES = {
  play: "M4 2.5v11l9.5-5.5z",
  pause: "M3.5 2.5h3.2v11H3.5zM9.3 2.5h3.2v11H9.3z",
  stop: "M3 3h10v10H3z",
  start: "M3 2.5h2v11H3zM13.5 2.5v11L6 8z",
  end: "M11 2.5h2v11h-2zM2.5 2.5v11L10 8z",
};

/** A filled picture of a button. */
export function Picture({ name }: { name: keyof typeof PICTURES }) {
  return (
    <svg className="picture" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PICTURES[name]} />
    </svg>
  );
}
