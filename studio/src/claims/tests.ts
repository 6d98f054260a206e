// What the page knows of the claims of the open file and of its test, and what it asks for.

import { useEffect, useState, useSyncExternalStore } from "react";

import { attempt } from "../actions";
import type { Claims, Suggested, Test } from "../protocol";
import { connection, patch, useStudio } from "../store";
import { summary } from "./claim";

const tests = new Map<string, Test>();
const listeners = new Set<() => void>();

function hear(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function take(path: string, test: Test): void {
  const before = tests.get(path);
  tests.set(path, test);
  if (before?.state === "running" && test.state !== "running") patch({ said: summary(test, false) });
  for (const listener of listeners) listener();
}

connection.hear((told) => {
  if (told.tell === "test") take(told.path, told.test);
});

/** The last test of a file. */
export function useTest(path: string): Test | null {
  return useSyncExternalStore(hear, () => tests.get(path) ?? null);
}

/** The claims of a file, asked for again when it has changed. */
export function useClaims(path: string): Claims | null {
  const revision = useStudio(({ opened }) => (opened?.path === path ? opened.revision : undefined));
  const [claims, setClaims] = useState<Claims | null>(null);
  useEffect(() => {
    if (revision === undefined) return;
    let wanted = true;
    void attempt(() => connection.ask("claims", { path })).then((found) => {
      if (!found || !wanted) return;
      if (found.test && !tests.has(path)) take(path, found.test);
      setClaims(found);
    });
    return () => void (wanted = false);
  }, [path, revision]);
  return claims;
}

export async function beginTest(path: string, update = false): Promise<void> {
  const begun = await attempt(() => connection.ask("test", { path, update }));
  if (begun && tests.get(path)?.state !== "running") take(path, begun);
}

export function stopTest(path: string): void {
  void attempt(() => connection.ask("stop-test", { path }));
}

/** Write the baselines that the test would change. */
export async function record(path: string): Promise<void> {
  const test = await attempt(() => connection.ask("record", { path }));
  if (test) take(path, test);
}

/** Claims that hold for a signal of a run; null where it has none. */
export async function suggestions(path: string, run: number, signal: string): Promise<Suggested | null> {
  return connection.ask("suggest", { path, run, signal }).catch(() => null);
}
