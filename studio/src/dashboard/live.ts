// The numbers that widgets show at the time of the page: from the record, and of signals that are not
// kept from the server.

import { connection } from "../store";
import { atNextFrame } from "../run/frames";
import { Newest } from "../run/newest";
import type { RunRecord } from "../run/record";
import { isOver, type Runs } from "../run/runs";
import { elementOf } from "./widgets";

const ASKED_EVERY = 120; // ms
const NUMBERS = /[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)/gi;

export interface Element {
  signal: string;
  /** null: all of it. */
  component: number | null;
}

export class Live {
  private found: Record<string, readonly number[]> = {};
  private about = "";
  private readonly lacking = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private known: { signals: unknown; names: Set<string> } = { signals: null, names: new Set() };

  constructor(readonly runs: Runs) {}

  private readonly asking = new Newest(async (about: { run: number; t: number; names: string[] }) => {
    const values = await connection.ask("values", { path: this.runs.path, at: "", ...about }).catch(() => null);
    if (!values) return;
    this.about = `${about.run}`;
    this.found = Object.fromEntries(Object.entries(values).map(([name, { text }]) => [name, (text.match(NUMBERS) ?? []).map(Number)]));
    for (const listener of this.listeners) listener();
  }, ASKED_EVERY);

  /** Call the listener when the server has told numbers; returns what ends it. */
  hear(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What a name means in the run that is shown; null where it has no such signal. */
  elementOf(name: string): Element | null {
    const signals = this.runs.run?.signals ?? [];
    if (this.known.signals !== signals) this.known = { signals, names: new Set(signals.map((one) => one.name)) };
    const { names } = this.known;
    const [signal, component] = elementOf(name, (one) => names.has(one));
    return names.has(signal) ? { signal, component } : null;
  }

  get record(): RunRecord | null {
    const { run } = this.runs;
    return run ? this.runs.recordOf(run.run) : null;
  }

  /** The numbers of a name at the time that is shown; none where they are not known. */
  numbers(name: string): readonly number[] {
    const { run, timeline, path } = this.runs;
    const element = this.elementOf(name);
    if (!run || !element) return [];
    const record = this.runs.recordOf(run.run);
    if (record.has(element.signal)) {
      const all = record.at(element.signal, timeline.time);
      return element.component === null ? all : all.slice(element.component, element.component + 1);
    }
    if (path.startsWith("loop:") || run.state === "preparing") return [];
    if (!isOver(run) || run.kept === "whole") this.ask(name);
    return this.about === `${run.run}` ? (this.found[name] ?? []) : [];
  }

  /** Ask for all that is lacking, once all widgets have said what that is. */
  private ask(name: string): void {
    this.lacking.add(name);
    atNextFrame(this.send);
  }

  private last = "";
  private readonly send = (): void => {
    const { run, timeline } = this.runs;
    const names = [...this.lacking];
    this.lacking.clear();
    const what = `${run?.run} ${timeline.time} ${names.join()}`;
    if (!run || what === this.last) return;
    this.last = what;
    this.asking.give({ run: run.run, t: timeline.time, names });
  };
}

const all = new WeakMap<Runs, Live>();

export function liveOf(runs: Runs): Live {
  let live = all.get(runs);
  if (!live) all.set(runs, (live = new Live(runs)));
  return live;
}
