// Follows which states are active at the time that is shown, also while a run goes on.

import { useEffect } from "react";

import type { Active, Chart, ChartState, ChartTransition } from "../protocol";
import { shownRuns, useRuns } from "../run/book";
import { Newest } from "../run/newest";
import { connection, now } from "../store";
import { type Activity, setActivity } from "./activity";
import { isWithin, stateAt } from "./editing";

const EVERY = 100; // ms
const NOTHING: Activity = { states: {}, taken: null };

interface Wanted {
  path: string;
  run: number;
  t: number;
  block: string;
}

let before: { about: Wanted; copies: readonly Active[]; taken: string | null } | null = null;

const asking = new Newest(async (about: Wanted) => {
  const copies = await connection.ask("active", about).catch(() => null);
  const chart = now().sheet?.chart;
  if (!chart || chart.block !== about.block) return;
  if (!copies) return setActivity(NOTHING);
  const found = activityOf(chart, copies);
  const taken = found.taken ?? stillTaken(about, copies);
  before = { about, copies, taken };
  setActivity({ ...found, taken });
}, EVERY);

/** While a run goes on, the record at hand may begin after the last change. */
function stillTaken(about: Wanted, copies: readonly Active[]): string | null {
  if (!before || before.about.run !== about.run || before.about.block !== about.block || before.about.t > about.t) return null;
  const same = JSON.stringify(before.copies.map(({ numbers }) => numbers)) === JSON.stringify(copies.map(({ numbers }) => numbers));
  return same ? before.taken : null;
}

/** The active states, and the transition taken last, where that can be told. */
export function activityOf(chart: Chart, copies: readonly Active[]): Activity {
  const counts = new Map<string, number>();
  let taken: string | null = null;
  for (const { numbers, left } of copies) {
    for (const { path: region, port } of chart.regions) {
      const leaf = leafOf(chart, region, numbers[port]);
      if (!leaf) continue;
      for (const path of inRegion(chart, region, leaf)) counts.set(path, (counts.get(path) ?? 0) + 1);
      const source = leafOf(chart, region, left[port] ?? undefined);
      if (copies.length === 1 && source) taken ??= takenFrom(chart, source, leaf);
    }
  }
  const states = Object.fromEntries([...counts].map(([path, count]): [string, true | string] =>
    [path, copies.length === 1 ? true : `${count} of ${copies.length}`]));
  return { states, taken };
}

function leafOf(chart: Chart, region: string, number: number | undefined): ChartState | undefined {
  return number ? chart.states.find((state) => state.region === region && state.number === number) : undefined;
}

/** A state and those around it within its region. */
function inRegion(chart: Chart, region: string, leaf: ChartState): string[] {
  const found = [];
  for (let state: ChartState | undefined = leaf; state && state.region === region; state = stateAt(chart, state.parent)) found.push(state.path);
  return found;
}

/** The transition that leads from one leaf to another: the first that could. */
function takenFrom(chart: Chart, source: ChartState, leaf: ChartState): string | null {
  const could = ({ lines, target }: ChartTransition): string | undefined => {
    const to = chart.states.find(({ name }) => name === target);
    if (!to || !isWithin(leaf.path, to.path)) return undefined;
    return lines.find((line) => isWithin(source.path, line.source))?.source;
  };
  const exact = chart.transitions.filter((one) => one.target === leaf.name);
  for (const one of [...exact, ...chart.transitions]) {
    const from = could(one);
    if (from) return `${from} ${one.target}`;
  }
  return null;
}

function ask(): void {
  const runs = shownRuns();
  const { opened, sheet } = now();
  const run = runs?.run;
  if (!runs || !run || !sheet?.chart || runs.path !== opened?.path || run.state === "preparing") return setActivity(NOTHING);
  asking.give({ path: runs.path, run: run.run, t: runs.timeline.time, block: sheet.chart.block });
}

/** Keep the active states up while a chart is shown. */
export function useActiveStates(chart: Chart): void {
  const runs = useRuns();
  useEffect(() => {
    if (!runs) return;
    ask();
    const ends = [runs.timeline.hear(ask), runs.hearRows(ask), runs.hear(ask)];
    return () => {
      asking.stop();
      ends.forEach((end) => end());
      setActivity(NOTHING);
    };
  }, [runs, chart]);
}
