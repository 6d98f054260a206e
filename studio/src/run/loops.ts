// Watching a loop of `spart realtime`: its signals come as rows of a run.

import { attempt, notify } from "../actions";
import { connection } from "../store";
import { runsOf, showLoop } from "./book";
import type { Runs } from "./runs";

const SHOWN_AT_FIRST = 10; // s

let endWatching: (() => void) | null = null;

export async function attach(name: string): Promise<void> {
  const run = await attempt(() => connection.ask("attach", { loop: name }));
  if (!run) return;
  const runs = runsOf(`loop:${name}`);
  runs.recordOf(run.run).clear();
  runs.take(run);
  runs.patch({ looking: { how: "follow", seconds: SHOWN_AT_FIRST } });
  endWatching?.();
  endWatching = watchScopes(runs, name);
  showLoop(name);
  notify(`Watching the loop ${name}: its signals are in the scopes`);
}

export async function detach(): Promise<void> {
  endWatching?.();
  endWatching = null;
  showLoop(null);
  await attempt(() => connection.ask("detach"));
}

/** Let the loop send what the scopes show, whenever that changes. */
function watchScopes(runs: Runs, loop: string): () => void {
  let before = "";
  const watch = (): void => {
    const names = runs.wanted;
    if (names.join() === before) return;
    before = names.join();
    void attempt(() => connection.ask("watch", { loop, names }));
  };
  watch();
  return runs.hear(watch);
}

connection.hear((told) => {
  if (told.tell !== "loop-ended") return;
  const runs = runsOf(`loop:${told.loop}`);
  const { run } = runs;
  if (!run) return; // another page watches it
  runs.take({ ...run, state: "ended", t: runs.timeline.end, stopped: told.reason });
  notify(`The loop ${told.loop} has ended: ${told.reason}`);
});
