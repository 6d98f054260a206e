// The bar of runs: run, pause, stop, speed, what the run does in words, and the time that is shown.

import { useEffect, useState } from "react";

import { timeText } from "../../../viewer/src/clock";
import { reveal } from "../actions";
import { type Command, useCommands } from "../app/keys";
import { showPanel } from "../panels/kept";
import type { Problem, Run } from "../protocol";
import { useStudio } from "../store";
import { askForBreakpoint } from "./asking";
import { shownRuns, useLoop, useRun, useRuns, useRunsState } from "./book";
import { detach } from "./loops";
import { mistakesOf, runOrPause, setSpeed, stop } from "./requests";
import type { Runs } from "./runs";
import type { StepTo } from "./stepping";
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
      <span className="run-steps" role="group" aria-label="Step">
        {STEPS.map(([to, key, label, picture]) => (
          <button key={to} type="button" className="tool" aria-label={label} title={`${label} (${key}; Ctrl+${key} back in the record)`}
            aria-disabled={refused || undefined} onClick={() => stepTo(runs, to)}>
            <Picture name={picture} />
          </button>
        ))}
      </span>
      <Speed runs={runs} />
      <Until runs={runs} />
      {shown && <Doing run={shown} />}
      {shown && <Carried run={shown} />}
    </>
  );
}

const STEPS = [
  ["time", "F7", "Step by an interval", "byTime"],
  ["tick", "F8", "Step to the next tick", "toTick"],
  ["event", "F10", "Step to the next event", "toEvent"],
] as const;

function stepTo(runs: Runs, to: StepTo, back = false): void {
  void import("./stepping").then(({ step, stepBack }) => (back ? stepBack : step)(runs, to));
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
export function wordsOf({ state, doing, stopped, problem, paused }: Run): string {
  if (doing) return state === "running" || state === "paused" ? `${doing}, the run waits` : doing;
  if (problem?.time !== undefined) return `failed at ${seconds(problem.time)} s`;
  if (paused) return pausedWords(paused);
  return stopped ?? state;
}

function pausedWords({ why, t, text, condition }: NonNullable<Run["paused"]>): string {
  const at = `at ${String(Number(t.toPrecision(6)))} s`;
  if (why === "breakpoint") return `paused ${at}: ${condition}${text ? ` (${text})` : ""}`;
  return `paused ${at}${why === "time" ? "" : why === "start" ? ", the start" : `, ${why === "tick" ? "a tick" : `an event: ${text}`}`}`;
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
      <span role="status" title={shown.paused ? wordsOf(shown) : undefined}>{wordsOf(shown)}</span>
      {waits && still > 0 && <span className="run-time">{`${still} s so far`}</span>}
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

/** How many tuned values the next run begins with; it leads to where they are reset and kept. */
function Carried({ run: { tuned, carried } }: { run: Run }) {
  const names = Object.keys(carried);
  if (names.length === 0) return null;
  const all = names.map((name) => `${name} = ${tuned[name]}${carried[name] === null ? "" : ` (${carried[name]} in the file)`}`).join("\n");
  return (
    <button type="button" className="run-tuned" title={`Tuned, and taken over by the next run:\n${all}\nTune resets them, or keeps them in the file.`}
      onClick={() => void showPanel("tune")}>{`${names.length} tuned`}</button>
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
    { keys: ["F9"], what: "a breakpoint, of the selected wire or block", run: askForBreakpoint },
    ...STEPS.flatMap(([to, key, label]): Command[] => [
      { keys: [key], what: label.toLowerCase(), run: withShown((runs) => stepTo(runs, to)) },
      { keys: [`Ctrl+${key}`], what: `the ${to === "time" ? "interval" : to} before, in the record`, run: withShown((runs) => stepTo(runs, to, true)) },
    ]),
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
  byTime: "M2 3h2v10H2zM12 3h2v10h-2zM6 4.5v7L11 8z",
  toTick: "M12 3h2v10h-2zM2 4.5v7L9 8zM9 7h3v2H9z",
  toEvent: "M13 2l-4 7h2.500l-1 5 4.500-7H12.500zM1.500 4.500v7L7.500 8z",
};

/** A filled picture of a button. */
export function Picture({ name }: { name: keyof typeof PICTURES }) {
  return (
    <svg className="picture" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PICTURES[name]} />
    </svg>
  );
}
