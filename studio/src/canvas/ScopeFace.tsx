// The face of a scope: the lines that it showed last, of the run that is shown.

import { useEffect, useState } from "react";

import { useRuns } from "../run/book";
import type { Runs } from "../run/runs";
import { now } from "../store";
import { Face } from "./Face";

const [WIDE, HIGH, POINTS, LINES] = [25, 19, 40, 4];
const EVERY = 700; // ms, while a run goes on
const FACE = { glyph: "scope", over: "", under: "" };

export function ScopeFace({ name }: { name: string }) {
  const runs = useRuns();
  const [lines, setLines] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!runs) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      timer = undefined;
      const next = linesOf(runs, name);
      setLines((before) => (before.join() === next.join() ? before : next));
    };
    const soon = (): void => { timer ??= setTimeout(draw, EVERY); };
    draw();
    const ends = [runs.hear(soon), runs.hearRows(soon)];
    return () => {
      clearTimeout(timer);
      ends.forEach((end) => end());
    };
  }, [runs, name]);
  return <Face face={FACE} lines={lines} />;
}

/** Lines through some of the rows of what a scope is wired to, within the frame of its face. */
function linesOf(runs: Runs, name: string): string[] {
  const { run } = runs;
  if (!run || runs.path !== now().opened?.path) return [];
  const record = runs.recordOf(run.run);
  const signals = (now().sheet?.wires ?? []).flatMap(({ to, signal }) => (to.block === name && signal !== null ? [signal] : []));
  const all = signals.flatMap((signal) => {
    const table = record.tableOf(signal);
    return table && table.t.length > 1 ? (table.columns.get(signal) ?? []).map((column) => sampled(table.t.view(), (k) => column.values.at(k))) : [];
  }).slice(0, LINES);
  const values = all.flatMap((points) => points.map(([, value]) => value)).filter(Number.isFinite);
  if (values.length === 0) return [];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const scale = high > low ? (HIGH - 4) / (high - low) : 0;
  return all.map((points) => points.filter(([, value]) => Number.isFinite(value)).map(([share, value], k) =>
    `${k ? "L" : "M"}${(share * WIDE - WIDE / 2).toFixed(1)} ${(HIGH / 2 - 2 - (scale ? (value - low) * scale : HIGH / 2 - 2)).toFixed(1)}`).join(""));
}

/** Some of the rows at equal times: shares of the whole time, and values. */
function sampled(t: Float64Array, at: (row: number) => number): [share: number, value: number][] {
  const [first, last] = [t[0]!, t.at(-1)!];
  if (!(last > first)) return [];
  const found: [number, number][] = [];
  let row = 0;
  for (let k = 0; k <= POINTS; k++) {
    const time = first + (k / POINTS) * (last - first);
    while (row + 1 < t.length && t[row + 1]! <= time) row++;
    found.push([k / POINTS, at(row)]);
  }
  return found;
}
