// What a person can ask of the runs of a file.

import { attempt, keepTuned, notify, written } from "../actions";
import type { Answers } from "../protocol";
import { connection, now, patch } from "../store";
import { isOver, type Runs } from "./runs";

/** Run the file from its start. paused: it waits there. */
export async function run(runs: Runs, paused = false): Promise<void> {
  await written(); // the file as it is in the page
  const { speed, T } = runs.state;
  const mistakes = mistakesOf(runs);
  if (mistakes) {
    patch({ listing: true });
    return notify(`It runs when ${mistakes} mended`, "fault");
  }
  const started = await attempt(() => connection.ask("run", { path: runs.path, speed, paused, ...(T === null ? {} : { T }) }));
  if (started) runs.take(started);
}

/** The mistakes for which a file does not run, in words; "" where it runs. */
export function mistakesOf({ path }: Runs): string {
  const { opened } = now();
  const count = opened?.path === path ? opened.problems.length : 0;
  return count === 0 ? "" : count === 1 ? "1 problem is" : `${count} problems are`;
}

/** Run, pause or go on, as the run is. */
export function runOrPause(runs: Runs): void {
  const state = runs.run?.state;
  if (state === "running") void ask(runs, "pause");
  else if (state === "paused") void ask(runs, "resume");
  else if (state !== "preparing") void run(runs);
}

export function stop(runs: Runs): void {
  const shown = runs.run;
  if (shown && !isOver(shown)) void ask(runs, "stop");
}

/** speed: times real time; null: as fast as it goes. */
export function setSpeed(runs: Runs, speed: number | null): void {
  runs.patch({ speed });
  if (runs.run && !isOver(runs.run)) void ask(runs, "speed", { speed });
}

/** Give a parameter a value, as YAML, from now on. Whether it was taken. */
export async function tune(runs: Runs, name: string, text: string): Promise<boolean> {
  return (await attempt(() => connection.ask("tune", { path: runs.path, name, text }).then(() => true))) ?? false;
}

/** Write what was tuned into the open file. */
export async function keep(): Promise<void> {
  if (await keepTuned()) notify("The tuned values are in the file; undo takes them back");
}

export interface Perturbed {
  run: number;
  t: number;
  states: Record<string, number[]>;
  tuned: Record<string, string>;
}

/** A new run from a time of an earlier one. */
export async function continueFrom(runs: Runs, given: Perturbed): Promise<boolean> {
  const { speed, T } = runs.state;
  const about = { path: runs.path, speed, ...(T === null ? {} : { T }), ...given };
  const started = await attempt(() => connection.ask("continue", about));
  if (started) runs.take(started);
  return started !== null;
}

function ask(runs: Runs, what: keyof Answers, given: object = {}): Promise<unknown> {
  return attempt(() => connection.ask(what, { path: runs.path, ...given }));
}

/** The address of a file with results of a run. */
export function downloadOf(path: string, run: number, kind: "npz" | "csv" | "mcap" | "html" | "live.html"): string {
  return `/download?${new URLSearchParams({ path, run: String(run), kind })}`;
}

