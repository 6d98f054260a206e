// The runs of one file, or of one loop of `spart realtime`: what the page knows of them, and what
// it asks of the server. Rows go into records; what React shows is in `state`.

import type { ScopeOf } from "../scopes/lines";
import type { View } from "../scopes/thinning";
import type { Rows, Run } from "../protocol";
import type { Result } from "../socket";
import { RunRecord } from "./record";
import { Timeline } from "./timeline";

/** How scopes show time: all of it, its last seconds, or a part of it. */
export type Looking = { how: "whole" } | { how: "follow"; seconds: number } | { how: "part"; view: View };

export interface RunsState {
  runs: readonly Run[];
  /** The number of the run that is shown. */
  shown: number | null;
  /** Runs whose lines are laid over it. */
  overlaid: readonly number[];
  /** Times real time, null for as fast as it goes. */
  speed: number | null;
  /** The end of the next run [s]; null for the file's own. */
  T: number | null;
  scopes: readonly ScopeOf[];
  /** Signals that are shown besides those of scopes. */
  others: readonly string[];
  looking: Looking;
  /** The time [s] from which scopes measure to the one that is shown; null where they do not. */
  mark: number | null;
  /** Of steps: the clock whose ticks they lead to, null for any; and their interval [s]. */
  clock: string | null;
  interval: number;
}

const FIRST: RunsState = {
  runs: [],
  shown: null,
  overlaid: [],
  speed: 1,
  T: null,
  scopes: [],
  others: [],
  looking: { how: "whole" },
  mark: null,
  clock: null,
  interval: 1,
};

const REFINE_AFTER = 150; // ms

export type Ask = (what: "signals", given: object) => Promise<Result<"signals">>;

export class Runs {
  readonly timeline = new Timeline();
  private readonly records = new Map<number, RunRecord>();
  private readonly listeners = new Set<() => void>();
  private readonly rowListeners = new Set<() => void>();
  /** "run:signal" of what was asked for since the run's state changed. */
  private readonly asked = new Set<string>();
  /** Runs that were told of from their start on. */
  private readonly fromStart = new Set<number>();
  private current = FIRST;
  private refining: ReturnType<typeof setTimeout> | undefined;

  /** path: of the file, or "loop:NAME". */
  constructor(
    readonly path: string,
    private readonly ask: Ask,
  ) {}

  get state(): RunsState {
    return this.current;
  }

  patch(change: Partial<RunsState>): void {
    this.current = { ...this.current, ...change };
    this.drop();
    this.fetch();
    this.refineSoon();
    for (const listener of this.listeners) listener();
  }

  /** Call the listener with each change of the state; returns what ends it. */
  readonly hear = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Call the listener when there are more rows. */
  readonly hearRows = (listener: () => void): (() => void) => {
    this.rowListeners.add(listener);
    return () => this.rowListeners.delete(listener);
  };

  /** The run that is shown. */
  get run(): Run | undefined {
    return this.runOf(this.current.shown);
  }

  runOf(number: number | null): Run | undefined {
    return this.current.runs.find(({ run }) => run === number);
  }

  recordOf(number: number): RunRecord {
    let record = this.records.get(number);
    if (!record) this.records.set(number, (record = new RunRecord()));
    return record;
  }

  /** The run that is shown and those laid over it, with their records. */
  get together(): { run: Run; record: RunRecord }[] {
    const { shown, overlaid } = this.current;
    const numbers = [shown, ...overlaid.filter((number) => number !== shown)];
    return numbers.flatMap((number) => {
      const run = this.runOf(number);
      return run ? [{ run, record: this.recordOf(run.run) }] : [];
    });
  }

  /** The signals that are shown. */
  get wanted(): string[] {
    const { scopes, others } = this.current;
    return [...new Set([...scopes.flatMap(({ signals }) => signals), ...others])];
  }

  /** What scopes show of the time axis now. */
  get view(): View {
    const { looking } = this.current;
    const { start, end } = this.timeline;
    if (looking.how === "part") return looking.view;
    if (looking.how === "follow") return [Math.max(end - looking.seconds, start), Math.max(end, start + looking.seconds)];
    return this.wholeView;
  }

  /** From the start to the end that the run will have; never empty. */
  get wholeView(): View {
    const { start, end } = this.timeline;
    const ends = this.together.map(({ run }) => (isOver(run) ? run.t : (run.T ?? Number.NaN))).filter(Number.isFinite);
    const last = Math.max(end, ...ends);
    return last > start ? [start, last] : [start, start + 1];
  }

  // --- what the server tells ---------------------------------------------------------------

  /** All runs of the file, as the server knows them. */
  takeAll(runs: readonly Run[]): void {
    const earlier = runs.slice(0, -1).filter(({ run }) => !this.runOf(run));
    this.current = { ...this.current, runs: [...earlier, ...this.current.runs] };
    for (const last of runs.slice(-1)) this.take(last);
  }

  /** All runs of the file, after a time in which nothing was heard of them. */
  meetAgain(runs: readonly Run[]): void {
    const known = new Set(runs.map(({ run }) => run));
    for (const { run } of this.current.runs) if (!known.has(run)) this.remove(run);
    this.records.clear();
    this.asked.clear();
    this.fromStart.clear();
    for (const run of runs) this.take(run);
  }

  /** A run is new, or has changed. */
  take(run: Run): void {
    const before = this.runOf(run.run);
    const runs = [...this.current.runs.filter((one) => one.run !== run.run), run].sort((a, b) => a.run - b.run);
    if (!before && run.t <= run.start) this.fromStart.add(run.run);
    if (before?.state !== run.state) this.forget(run);
    const shown = before ? this.current.shown : run.run;
    this.patch({ runs, shown, ...(shown === run.run ? { ...this.scopesFor(run), ...this.lookingAt(run) } : {}) });
    if (!before) this.timeline.goAlong();
    if (shown !== run.run) return;
    this.spanOf(run);
    this.pauseAt(before?.paused ?? null, run);
  }

  /** Show the instant at which a step or a breakpoint has paused the run, and go on with it. */
  private pauseAt(before: Run["paused"], { paused, state, t }: Run): void {
    const { timeline } = this;
    if (paused && (paused.t !== before?.t || paused.why !== before.why || paused.text !== before.text)) {
      if (paused.t < t) timeline.goTo(paused.t);
      else timeline.goAlong();
    } else if (state === "running" && before && timeline.time === before.t) timeline.goAlong();
  }

  /** Rows that are told, or the answer of "signals". */
  takeRows(header: Rows, numbers: Float64Array): void {
    const record = this.recordOf(header.run);
    if (header.n === undefined) record.append({ header, numbers });
    else record.replace({ header, numbers });
    const run = this.run;
    if (run?.run === header.run) this.spanOf(run);
    for (const listener of this.rowListeners) listener();
  }

  /** A run is no longer kept. */
  remove(number: number): void {
    const runs = this.current.runs.filter(({ run }) => run !== number);
    this.records.delete(number);
    this.askAgain(number);
    const { shown, overlaid } = this.current;
    this.patch({ runs, overlaid: overlaid.filter((one) => one !== number), shown: shown === number ? (runs.at(-1)?.run ?? null) : shown });
    if (this.run) this.spanOf(this.run);
  }

  /** Show another run. */
  choose(number: number): void {
    const run = this.runOf(number);
    if (!run) return;
    this.patch({ shown: number, ...this.lookingAt(run) });
    this.spanOf(run);
  }

  /** Scopes stay while the run has any of their signals; else they are those of the diagram. */
  private scopesFor(run: Run): Partial<RunsState> {
    const names = new Set(run.signals.map(({ name }) => name));
    const stay = this.current.scopes.some(({ signals }) => signals.some((name) => names.has(name)));
    return stay || names.size === 0 ? {} : { scopes: scopesOf(run) };
  }

  /** The part of the time that is shown stays while the run has any of it. */
  private lookingAt(run: Run): Partial<RunsState> {
    const { looking } = this.current;
    if (looking.how !== "part" || run.state === "preparing") return {};
    const end = isOver(run) ? run.t : (run.T ?? Infinity);
    return looking.view[0] < end && looking.view[1] > run.start ? {} : { looking: { how: "whole" } };
  }

  private spanOf(run: Run): void {
    const end = this.recordOf(run.run).end();
    const stands = isOver(run) || run.state === "paused";
    this.timeline.span(run.start, Number.isNaN(end) ? run.t : Math.max(end, stands ? run.t : end));
  }

  /** Ask anew for what a run in another state may know better. Rows of a run that was here from
   * its start are told as it goes on. */
  private forget(run: Run): void {
    this.askAgain(run.run);
    if (isOver(run) || !this.fromStart.has(run.run)) return;
    for (const { name, live } of run.signals) if (live) this.asked.add(`${run.run}:${name}`);
  }

  /** Ask for the rows that scopes show and that are not told by themselves. */
  private fetch(): void {
    for (const { run } of this.together) {
      if (run.state === "preparing" || this.isLoop) continue;
      const known = new Set(run.signals.map(({ name }) => name));
      const names = this.wanted.filter((name) => known.has(name) && !this.asked.has(`${run.run}:${name}`));
      if (names.length) void this.askFor(run, names);
    }
  }

  /** Records that are not shown are asked for again when they are. */
  private drop(): void {
    const together = new Set(this.together.map(({ run }) => run.run));
    for (const number of this.records.keys()) {
      if (together.has(number) || this.runOf(number)?.state !== "ended") continue;
      this.records.delete(number);
      this.askAgain(number);
    }
  }

  /** Ask for the part of the time that is shown, where the page has not all its rows, once it has
   * been shown for a while. */
  private refineSoon(): void {
    clearTimeout(this.refining);
    if (this.current.looking.how === "part") this.refining = setTimeout(() => void this.refine(), REFINE_AFTER);
  }

  private async refine(): Promise<void> {
    const [from, to] = this.view;
    for (const { run, record } of this.together) {
      const names = this.wanted.filter((name) => record.has(name));
      if (!names.some((name) => record.lacks(name, [from, to])) || this.isLoop) continue;
      const part: View = [from - (to - from), to + (to - from)];
      try {
        const about = { path: this.path, run: run.run, names, from: part[0], to: part[1] };
        const { header, numbers } = await this.ask("signals", about);
        record.refine({ header, numbers }, part);
      } catch {
        continue; // what is drawn is coarser
      }
      for (const listener of this.rowListeners) listener();
    }
  }

  private get isLoop(): boolean {
    return this.path.startsWith("loop:");
  }

  private askAgain(number: number): void {
    for (const key of [...this.asked]) if (key.startsWith(`${number}:`)) this.asked.delete(key);
  }

  private async askFor({ run }: Run, names: readonly string[]): Promise<void> {
    for (const name of names) this.asked.add(`${run}:${name}`);
    try {
      const { header, numbers } = await this.ask("signals", { path: this.path, run, names });
      this.takeRows(header, numbers);
    } catch {
      // Not kept while the run goes on: asked for again when it has ended.
    }
  }
}

export function isOver({ state }: Run): boolean {
  return state === "ended" || state === "failed";
}

/** The scopes that a diagram has, or an empty one. */
export function scopesOf(run: Run): ScopeOf[] {
  const groups = run.scopes.length ? run.scopes : [{ title: "", signals: [] }];
  return groups.map(({ title, signals }, index) => ({ id: index + 1, title, signals, hidden: [] }));
}
