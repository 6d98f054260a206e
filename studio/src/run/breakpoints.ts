// The breakpoints of files: conditions at which runs pause, the same in all pages.

import { useSyncExternalStore } from "react";

import { attempt, notify } from "../actions";
import type { Breakpoint } from "../protocol";
import { connection, now } from "../store";

const all = new Map<string, readonly Breakpoint[]>();
const listeners = new Set<() => void>();
const NONE: readonly Breakpoint[] = [];

function take(path: string, breakpoints: readonly Breakpoint[]): void {
  all.set(path, breakpoints);
  for (const listener of listeners) listener();
}

connection.hear((told) => {
  if (told.tell === "breakpoints") take(told.path, told.breakpoints);
});

function hear(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The breakpoints of a file, which are asked for when they are first needed. */
export function useBreakpoints(path: string): readonly Breakpoint[] {
  return useSyncExternalStore(hear, () => {
    if (!all.has(path)) {
      all.set(path, NONE);
      void known(path, true);
    }
    return all.get(path)!;
  });
}

async function known(path: string, anew = false): Promise<readonly Breakpoint[]> {
  if (!all.has(path) || anew) {
    const found = await attempt(() => connection.ask("breakpoints", { path }));
    if (found) take(path, found);
  }
  return all.get(path) ?? NONE;
}

/** Set the breakpoints of a file. Whether they were taken. */
export async function setBreakpoints(path: string, breakpoints: readonly Breakpoint[]): Promise<boolean> {
  const found = await attempt(() => connection.ask("set-breakpoints", { path, breakpoints }));
  if (found) take(path, found);
  return found !== null;
}

/** Set a breakpoint on a condition of the open file, or remove the one that is there. */
export async function toggleBreakpoint(condition: string, path = now().opened?.path): Promise<void> {
  if (path === undefined) return;
  const before = await known(path);
  const left = before.filter((one) => one.condition !== condition);
  const isNew = left.length === before.length;
  if (await setBreakpoints(path, isNew ? [...before, { condition, enabled: true }] : left))
    notify(isNew ? `Runs pause when ${condition}` : `No breakpoint on ${condition} any more`);
}
