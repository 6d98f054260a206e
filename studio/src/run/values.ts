// The values on wires of the sheet at the time that is shown.

import { useEffect, useSyncExternalStore } from "react";

import type { Value } from "../protocol";
import { connection, now, useStudio } from "../store";
import { shownRuns, useRuns } from "./book";
import { Newest } from "./newest";

const EVERY = 120; // ms
type Found = Readonly<Record<string, Value>>;

let found: Found = {};
let about = "";
const listeners = new Set<() => void>();

function hear(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const asking = new Newest(async (wanted: { path: string; at: string; run: number; t: number }) => {
  const key = `${wanted.path} ${wanted.at} ${wanted.run}`;
  let values: Found;
  try {
    values = await connection.ask("values", wanted);
  } catch {
    return; // the wire's own line stands; the next time is asked for again
  }
  [found, about] = [values, key];
  for (const listener of listeners) listener();
}, EVERY);

/** Ask for the values of the sheet at the time that is shown. */
function ask(): void {
  const runs = shownRuns();
  const { opened, sheet } = now();
  const run = runs?.run;
  if (!runs || !run || !sheet || runs.path !== opened?.path || run.state === "preparing") return;
  asking.give({ path: runs.path, at: sheet.at, run: run.run, t: runs.timeline.time });
}

/** The values of all wires of the sheet by their signals, kept up while it is used. */
export function useValues(): Found {
  const runs = useRuns();
  const at = useStudio((state) => state.sheet?.at ?? "");
  const shown = useRunsStateOrNull(runs);
  useEffect(() => {
    if (!runs || shown === null) return;
    ask();
    const ends = [runs.timeline.hear(ask), runs.hearRows(ask)];
    return () => {
      asking.stop();
      ends.forEach((end) => end());
    };
  }, [runs, at, shown]);
  const values = useSyncExternalStore(hear, () => found);
  return about === `${runs?.path} ${at} ${shown}` ? values : NOTHING;
}

const NOTHING: Found = {};

function useRunsStateOrNull(runs: ReturnType<typeof useRuns>): number | null {
  return useSyncExternalStore(runs?.hear ?? hear, () => runs?.state.shown ?? null);
}

/** What a wire carries at the time that is shown; null where that is not known. */
export function useWireValue(signal: string | null): Value | null {
  const values = useValues();
  return (signal !== null && values[signal]) || null;
}
