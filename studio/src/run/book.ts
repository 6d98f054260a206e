// The runs of each file that was opened, by its path, and what the server tells of them.

import { useSyncExternalStore } from "react";

import { attempt, metAgain } from "../actions";
import type { Poses, Rows, Run, Told } from "../protocol";
import type { Block } from "../socket";
import { connection, useStudio, now } from "../store";
import { Runs, type RunsState } from "./runs";

const all = new Map<string, Runs>();
type PosesListener = (header: Poses, numbers: Float64Array) => void;
const posesListeners = new Set<PosesListener>();

/** The runs of a file or of "loop:NAME". */
export function runsOf(path: string): Runs {
  let runs = all.get(path);
  if (!runs) {
    runs = new Runs(path, (what, given) => connection.ask(what, given));
    all.set(path, runs);
    if (!path.startsWith("loop:")) void begin(runs);
  }
  return runs;
}

/** Hear poses of all runs that go on. */
export function hearPoses(listener: PosesListener): () => void {
  posesListeners.add(listener);
  return () => posesListeners.delete(listener);
}

async function begin(runs: Runs): Promise<void> {
  const known = await attempt(() => connection.ask("runs", { path: runs.path }));
  if (known) runs.takeAll(known);
}

/** What was told while the connection was lost is asked for; after a restart the server knows no runs. */
metAgain.add(() => {
  for (const [path, runs] of all) {
    if (path !== now().opened?.path) all.delete(path); // begun anew where it is opened
    else void attempt(() => connection.ask("runs", { path })).then((known) => known && runs.meetAgain(known));
  }
});

function take(told: Told): void {
  if (told.tell === "run") runsOf(told.path).take(told.run);
  if (told.tell === "run-dropped") all.get(told.path)?.remove(told.run);
}

function takeBlock({ header, numbers }: Block): void {
  if (header.tell === "poses") posesListeners.forEach((listener) => listener(header, numbers));
  else all.get(header.path)?.takeRows(header satisfies Rows, numbers);
}

connection.hear(take);
connection.hearBlocks(takeBlock);

// --- which runs are shown --------------------------------------------------------------------

let loop: string | null = null;
const loopListeners = new Set<() => void>();

/** Show the loop of `spart realtime` with this name; null: the runs of the open file. */
export function showLoop(name: string | null): void {
  loop = name;
  for (const listener of loopListeners) listener();
}

function hearLoop(listener: () => void): () => void {
  loopListeners.add(listener);
  return () => loopListeners.delete(listener);
}

export function useLoop(): string | null {
  return useSyncExternalStore(hearLoop, () => loop);
}

/** The runs that are shown: of the loop, or of the open file; null where there is neither. */
export function shownRuns(): Runs | null {
  const path = loop === null ? now().opened?.path : `loop:${loop}`;
  return path === undefined ? null : runsOf(path);
}

export function useRuns(): Runs | null {
  const name = useLoop();
  const opened = useStudio((state) => state.opened?.path ?? null);
  const path = name === null ? opened : `loop:${name}`;
  return path === null ? null : runsOf(path);
}

/** A part of the state of some runs. select must return the same object while nothing changed. */
export function useRunsState<T>(runs: Runs, select: (state: RunsState) => T): T {
  return useSyncExternalStore(runs.hear, () => select(runs.state));
}

/** The run that is shown. */
export function useRun(runs: Runs): Run | undefined {
  return useRunsState(runs, (state) => state.runs.find(({ run }) => run === state.shown));
}

