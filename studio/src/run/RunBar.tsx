// The bar of runs: run, pause, stop, speed, what the run does in words, and the time that is shown.

import { useEffect, useState } from "react";

import { timeText } from "../../../viewer/src/clock";
import { reveal } from "../actions";
import { type Command, useCommands } from "../app/keys";
import type { Problem, Run } from "../protocol";
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
      {loop === null ? <Buttons runs={runs} /> : <OfLoop name={loop} runs={runs} />}
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
      <span>Run speed</span>
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

/** How a run stands, in words. */
export function wordsOf({ state, doing, stopped, problem }: Run): string {
  if (doing) return state === "preparing" ? doing : `${doing}, the run waits`;
  if (problem?.time !== undefined) return `failed at ${seconds(problem.time)} s`;
  return stopped ?? state;
}

function Doing({ run: shown }: { run: Run }) {
  const { start, t, state, doing, stopped, problem, warnings } = shown;
  const T = shown.T ?? t;
  const begun = state !== "preparing";
  const still = useStill(`${state} ${doing} ${t}`);
  const waits = doing !== null || (state === "running" && still >= LONG); // some solvers tell their time at stops alone
  return (
    <span className={`run-state ${state}`}>
      <progress aria-label="Progress" max={Math.max(T - start, 1e-9)} value={begun && !waits ? Math.min(t, T) - start : undefined} />
      <span role="status">{wordsOf(shown)}</span>
      {waits && still > 0 && <span className="run-time">{`${still} s`}</span>}
      {begun && !doing && !stopped && <span className="run-time">{`${timeText(t, T - start)} of ${seconds(T)} s`}</span>}
      {problem && <Why problem={problem} />}
      {warnings.length > 0 && (
        <details className="run-warnings">
          <summary>{warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`}</summary>
          <ul>{warnings.map((warning) => <li key={warning}>{warning}</li>)}</ul>
        </details>
      )}
    </span>
  );
}

const LONG = 2; // s

/** For how many seconds something has been as it is. */
function useStill(what: string): number {
  const [since, setSince] = useState({ what, seconds: 0 });
  useEffect(() => {
    const timer = setInterval(() => setSince((one) => ({ what, seconds: one.what === what ? one.seconds + 1 : 1 })), 1000);
    return () => clearInterval(timer);
  }, [what]);
  return since.what === what ? since.seconds : 0;
}

/** Why a run has failed, and a way to the block. */
function Why({ problem: { message, hint, block } }: { problem: Problem }) {
  const cut = block?.lastIndexOf("/") ?? 0;
  return (
    <>
      {block && (
        <button type="button" onClick={() => void reveal(block.slice(0, Math.max(cut, 0)), block.slice(cut + 1))}>{`Show ${block}`}</button>
      )}
      <span className="run-more" title={[message, hint].filter(Boolean).join("\n")}>{message}</span>
    </>
  );
}

function OfLoop({ name, runs }: { name: string; runs: Runs }) {
  const ended = useRun(runs)?.stopped;
  return (
    <span className="run-state">
      <span role="status">{ended ? `The loop ${name} has ended: ${ended}` : `Watching the loop ${name}`}</span>
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
