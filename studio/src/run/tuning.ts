// Parameters that are changed while a run goes on.

import { useEffect, useState, useSyncExternalStore } from "react";

import type { Tunable } from "../protocol";
import { connection } from "../store";
import { useRun, useRunsState } from "./book";
import { Newest } from "./newest";
import { tune } from "./requests";
import type { Runs } from "./runs";

const EVERY = 50; // ms

/** What can be tuned in the run that is shown. */
export function useTunables(runs: Runs): readonly Tunable[] {
  const run = useRun(runs);
  const number = run?.run;
  const ready = run !== undefined && run.state !== "preparing";
  const [found, setFound] = useState<readonly Tunable[]>([]);
  useEffect(() => {
    let stale = false;
    if (!ready) return;
    void tunablesOf(runs.path, number!).then((all) => {
      if (!stale && all) setFound(all);
    });
    return () => {
      stale = true;
    };
  }, [runs, number, ready]);
  return ready ? found : NOTHING;
}

const asked = new Map<string, Promise<Tunable[] | null>>();

/** Asked for once for each run: what a run began with does not change. */
function tunablesOf(path: string, run: number): Promise<Tunable[] | null> {
  const key = `${path} ${run}`;
  let answer = asked.get(key);
  if (!answer) {
    answer = connection.ask("tunables", { path, run }).catch(() => null); // nothing to tune is no fault
    asked.set(key, answer);
    void answer.then((found) => found ?? asked.delete(key));
  }
  return answer;
}

const NOTHING: readonly Tunable[] = [];

/** Texts that were typed and are not told back yet, by "path name". */
const typed = new Map<string, string>();
const senders = new Map<string, Newest<string>>();
const listeners = new Set<() => void>();

function hear(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The text of a parameter as the person has it, and a way to change it. */
export function useTuned(runs: Runs, { name, text }: Pick<Tunable, "name" | "text">): [string, (text: string) => void] {
  const key = `${runs.path} ${name}`;
  const told = useRunsState(runs, () => runs.run?.tuned[name]);
  const mine = useSyncExternalStore(hear, () => typed.get(key));
  return [mine ?? told ?? text, (next) => change(runs, name, next)];
}

/** Send a value, not more often than a loop can take it. */
export function change(runs: Runs, name: string, text: string): void {
  const key = `${runs.path} ${name}`;
  typed.set(key, text);
  let sender = senders.get(key);
  if (!sender) {
    sender = new Newest(async (wanted: string) => {
      await tune(runs, name, wanted);
      if (typed.get(key) === wanted) typed.delete(key);
      tell();
    }, EVERY);
    senders.set(key, sender);
  }
  sender.give(text);
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}
