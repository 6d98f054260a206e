// The lines of a scope: each number of its signals, of the run that is shown and of those laid over.

import type { Run, Signal } from "../protocol";
import type { RunRecord } from "../run/record";
import { type LineStyle, styleOf } from "./styles";

export interface ScopeOf {
  id: number;
  title: string;
  signals: readonly string[];
  /** Keys of lines that are not drawn. */
  hidden: readonly string[];
}

export interface Line {
  /** The same in each run: "ctrl.tau[1]". */
  key: string;
  label: string;
  unit: string;
  signal: string;
  component: number;
  /** 0: the run that is shown; then those laid over it. */
  order: number;
  run: string;
  style: LineStyle;
  record: RunRecord;
}

export interface RunWithRecord {
  run: Run;
  record: RunRecord;
}

/** The lines of a scope, those of the shown run first. A signal that a run lacks has no line. */
export function linesOf(scope: ScopeOf, all: readonly RunWithRecord[]): Line[] {
  const main = all[0];
  if (!main) return [];
  const keys = scope.signals.flatMap((name) => partsOf(main.run, name).map(({ key }) => key));
  return all.flatMap(({ run, record }, order) =>
    scope.signals.flatMap((name) =>
      partsOf(run, name).flatMap(({ key, label, unit, component }) => {
        if (scope.hidden.includes(key) || !keys.includes(key)) return [];
        const style = styleOf(keys.indexOf(key), order);
        return [{ key, label, unit, signal: name, component, order, run: run.label, style, record }];
      }),
    ),
  );
}

export interface Part extends Pick<Line, "key" | "label" | "unit" | "component"> {
  /** What it is called beside its signal's name. */
  short: string;
}

/** What a signal's numbers are called. */
export function partsOf(run: Run, name: string): Part[] {
  const signal = run.signals.find((one) => one.name === name);
  if (!signal) return [];
  const count = sizeOf(signal);
  return Array.from({ length: count }, (_, component) => ({
    key: count === 1 ? name : `${name}[${component}]`,
    label: labelOf(signal, component, count),
    short: labelOf(signal, component, count).slice(count === 1 ? 0 : name.length).replace(/^\./, ""),
    unit: signal.unit,
    component,
  }));
}

function labelOf({ name, labels, entries, shape }: Signal, component: number, count: number): string {
  if (count === 1) return name;
  const label = labels[component];
  if (label) return `${name}.${label}`;
  const entry = entries.length === count ? entries[component] : undefined;
  if (entry) return `${name}[${entry}]`;
  const columns = shape.length === 2 ? shape[1]! : 0;
  return columns ? `${name}[${Math.floor(component / columns)}, ${component % columns}]` : `${name}[${component}]`;
}

export function sizeOf({ shape }: Signal): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** The units of some lines, as an axis names them. */
export function unitsOf(units: readonly string[]): string {
  const different = [...new Set(units.filter(Boolean))];
  return different.length ? `[${different.join(", ")}]` : "";
}
