// What the page knows of the jobs of the open file, and what it asks for.

import { useEffect, useSyncExternalStore } from "react";

import { attempt, metAgain, notify } from "../actions";
import type { Job, JobKind } from "../protocol";
import { connection, now, patch } from "../store";
import type { Options } from "./options";

const all = new Map<number, Job>();
const known = new Set<string>();
const listeners = new Set<() => void>();
/** Exports begun in this page: their files are saved when they are there. */
const wanted = new Set<number>();
let lists = new Map<string, readonly Job[]>();

function hear(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed(): void {
  lists = new Map();
  for (const listener of listeners) listener();
}

function take(job: Job): void {
  const before = all.get(job.job);
  all.set(job.job, job);
  if (before?.state === "running" && job.state !== "running") {
    patch({ said: `${job.title} ${wordOf(job)}` });
    if (job.state === "failed" && job.path === now().opened?.path) notify(`${job.title} failed: ${reasonOf(job)}`, "fault");
    if (wanted.delete(job.job) && job.state === "ended") save(job);
  }
  changed();
}

connection.hear((told) => {
  if (told.tell === "job") take(told.job);
  if (told.tell === "job-dropped" && all.delete(told.job)) changed();
});
metAgain.add(() => {
  all.clear();
  known.clear();
  changed();
  const path = now().opened?.path;
  if (path) void ask(path);
});

async function ask(path: string): Promise<void> {
  if (known.has(path)) return;
  known.add(path);
  for (const job of (await attempt(() => connection.ask("jobs", { path }))) ?? []) if (!all.has(job.job)) take(job);
}

/** The jobs of a file, the last first. */
export function useJobs(path: string): readonly Job[] {
  useEffect(() => void ask(path), [path]);
  return useSyncExternalStore(hear, () => {
    let list = lists.get(path);
    if (!list) lists.set(path, (list = [...all.values()].filter((job) => job.path === path).sort((a, b) => b.job - a.job)));
    return list;
  });
}

let kinds: Promise<JobKind[] | null> | null = null;

/** The commands with their options; asked for once. */
export function allKinds(): Promise<JobKind[] | null> {
  kinds ??= attempt(() => connection.ask("job-options")).then((found) => {
    if (!found) kinds = null;
    return found;
  });
  return kinds;
}

export interface Asked {
  kind: string;
  options: Options;
  format?: string;
  other?: string;
}

/** Begin a job of the open file, and show it. Whether it has begun. */
export async function begin(asked: Asked, saves: boolean): Promise<boolean> {
  const path = now().opened?.path;
  const begun = await attempt(() => connection.ask("job", { path, ...asked }));
  if (!begun) return false;
  if (saves) wanted.add(begun.job);
  if (!all.has(begun.job)) take(begun);
  patch({ panel: "jobs" });
  return true;
}

export const stop = (job: Job): unknown => attempt(() => connection.ask("stop-job", { job: job.job }));
export const resume = (job: Job): unknown => attempt(() => connection.ask("resume-job", { job: job.job }));
export const forget = (job: Job): unknown => attempt(() => connection.ask("forget-job", { job: job.job }));

/** The address of a file of a job, to look at or to save; without a name, of an archive of all. */
export function addressOf(job: number, file = "", view = false): string {
  return `/job?${new URLSearchParams({ job: String(job), ...(file && { file }), ...(view && { view: "1" }) })}`;
}

/** Let the browser save what a job has written: its file, or all in one archive. */
function save({ job, files }: Job): void {
  if (files.length === 0) return;
  const link = document.createElement("a");
  link.href = addressOf(job, files.length === 1 ? files[0]!.name : "");
  link.download = "";
  link.click();
}

export function wordOf({ state, code }: Job): string {
  if (state === "failed") return code === 2 ? "was refused" : "failed";
  return { running: "is running", ended: "has ended", stopped: "was stopped" }[state];
}

/** Why a job failed: its last error, in words. */
export function reasonOf({ problem, lines }: Job): string {
  if (problem) return problem.message;
  const errors = lines.filter((line) => line.startsWith("! error: "));
  return errors.at(-1)?.slice("! error: ".length) ?? lines.at(-1)?.replace(/^! /, "") ?? "its output does not say why";
}
