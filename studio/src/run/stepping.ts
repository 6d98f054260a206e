// Steps of a run, forth and back: on in the record where an earlier time is shown, else by the run.

import { attempt, notify } from "../actions";
import { connection } from "../store";
import { run as runAnew } from "./requests";
import { isOver, type Runs } from "./runs";

export type StepTo = "event" | "tick" | "time";

/** To the next event, the next tick or by an interval; without a run, one begins paused. */
export async function step(runs: Runs, to: StepTo): Promise<void> {
  const { run, timeline } = runs;
  if (run?.state === "preparing") return;
  if (!run || (isOver(run) && timeline.atEnd)) return runAnew(runs, true);
  const isBefore = !timeline.atEnd && (isOver(run) || timeline.time < run.t);
  if (isBefore && (await goTo(runs, to, false))) return;
  if (isOver(run)) {
    timeline.goAlong();
    return notify(`The record has no further ${NAMES[to]}`);
  }
  const from = isBefore && run.state === "paused" ? { t: timeline.time } : {};
  await attempt(() => connection.ask("step", { path: runs.path, to, ...settingsOf(runs, to), ...from }));
}

/** Show the instant of the record before the one that is shown. */
export async function stepBack(runs: Runs, to: StepTo): Promise<void> {
  if (runs.run && runs.run.state !== "preparing" && !(await goTo(runs, to, true)))
    notify(`The record has no ${NAMES[to]} before this time`);
}

const NAMES = { event: "event", tick: "tick", time: "time" };

/** Go to an instant of the record. Whether there is one. */
async function goTo(runs: Runs, to: StepTo, back: boolean): Promise<boolean> {
  const { run, timeline } = runs;
  const about = { path: runs.path, run: run!.run, t: timeline.time, to, back, ...settingsOf(runs, to) };
  const t = await attempt(() => connection.ask("moment", about));
  if (t !== null) timeline.goTo(t);
  return t !== null;
}

function settingsOf({ state, run }: Runs, to: StepTo): object {
  if (to === "time") return { interval: state.interval };
  return to === "tick" && run?.clocks.some(({ name }) => name === state.clock) ? { clock: state.clock } : {};
}
