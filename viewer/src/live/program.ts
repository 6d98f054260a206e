// The compiled program: one run with its parameters, and what is shown of its rows.

import { unpack } from "../recording";
import { FORMAT, type Model } from "./data";
import { exactValues } from "./exact";
import { switchTimes } from "./switching";

/** How a run ended. */
export type Ending = "complete" | "stopped" | "failed" | "refused";

export interface Run {
  p: Float64Array;
  ending: Ending;
  /** Why it failed or cannot go on here; "" otherwise. */
  reason: string;
  /** The last time [s]. */
  end: number;
  steps: number;
  /** Times of rows [s]; rows of states (x, xd). */
  t: Float64Array;
  rows: Float64Array;
  /** Rows of shown signals, then of the frames of bodies. */
  shown: Float64Array;
  meters: Float64Array;
  /** Milliseconds that it took. */
  took: number;
}

/** The compiled code of a model. stiff: the same by an implicit method, for runs that become stiff. */
export interface Code {
  module: WebAssembly.Module;
  stiff: WebAssembly.Module | null;
}

const STIFF = 4;
const REASONS = [
  "",
  "the solver failed: its step became too small, or gave no finite number",
  "a block's next state is not finite",
  "a measured signal is not finite",
  "the run became stiff, for which this page has no method",
];
const ENDINGS: Ending[] = ["complete", "stopped", "failed", "refused"];

const NEEDS = "its states slide or switch too fast, it takes too many steps, or a block refuses its inputs; sb.simulate says which";

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  sb_room(bytes: number): number;
  sb_run(...places: number[]): number;
  sb_show(t: number, rows: number, count: number, p: number, out: number): void;
  sb_edges(p: number, out: number): void;
}

/** The numbers of a row of what is shown: signals, then 12 of each body's frame. */
export function widthOf(model: Model): number {
  return model.signals.reduce((sum, { count }) => sum + count, 0) + 12 * model.bodies.length;
}

export class Program {
  readonly samples: Float64Array;
  private readonly wasm: Exports;
  private readonly places: Record<string, number>;
  private readonly ticks: Float64Array;
  private readonly width: number;
  private known: { at: number; room: number };
  private implicit: Program | null = null;

  constructor(readonly model: Model, private readonly code: Code) {
    if (model.format !== FORMAT) {
      throw new Error(`this page runs programs of format ${FORMAT}, not ${model.format}`);
    }
    this.wasm = new WebAssembly.Instance(code.module, {}).exports as unknown as Exports;
    this.wasm._initialize();
    this.samples = unpack(model.samples).values;
    this.ticks = unpack(model.ticks.t).values;
    this.width = widthOf(model);
    const rows = this.samples.length * (model.x0.length + model.xd0.length);
    this.places = {
      numbers: this.put(Float64Array.from(model.numbers)),
      ticks: this.put(this.ticks),
      due: this.put(Uint8Array.from(unpack(model.ticks.due).values)),
      samples: this.put(this.samples),
      times: this.room(this.samples.length),
      x0: this.room(model.x0.length),
      xd0: this.room(model.xd0.length),
      p: this.room(model.p.length),
      edges: this.room(model.edges.count),
      found: this.room(2),
      x: this.room(model.x0.length),
      xd: this.room(model.xd0.length),
      meters: this.room(model.meters),
      events: this.room(model.events),
      rows: this.room(rows),
      shown: this.room(this.samples.length * this.width),
    };
    this.known = { at: this.room(64), room: 64 };
  }

  /** One run. show: whether its rows are wanted, and not its meters only. */
  run(p: Float64Array, show = true): Run {
    const { model, wasm, places: at } = this;
    const began = performance.now();
    this.set(at["p"]!, p);
    this.set(at["x0"]!, Float64Array.from(model.x0, (k) => (k < 0 ? 0 : p[k]!)));
    this.set(at["xd0"]!, Float64Array.from(model.xd0, (k) => (k < 0 ? 0 : p[k]!)));
    const known = this.knownTimes();
    if (known === null) {
      return this.refused(p, "a source switches more than a million times");
    }
    const width = model.x0.length + model.xd0.length;
    const samples = show ? this.samples.length : 0;
    this.numbers(at["rows"]!, samples * width).fill(NaN);
    const { numbers, x0, xd0, ticks, due, found, x, xd, meters, events, rows } = at as Record<string, number>;
    const code = wasm.sb_run(
      ...[numbers!, Number(model.heeds_stiffness), x0!, xd0!, at["p"]!, ticks!, due!, this.ticks.length],
      ...[this.known.at, known, at["samples"]!, samples, found!, x!, xd!, meters!, events!, rows!],
    );
    if (code >> 3 === STIFF && this.code.stiff) {
      this.implicit ??= new Program({ ...model, heeds_stiffness: false }, { module: this.code.stiff, stiff: null });
      return this.implicit.run(p, show);
    }
    const [end, steps] = this.numbers(found!, 2) as unknown as [number, number];
    const stopped = ENDINGS[code % 8] === "stopped";
    const t = this.times(code % 8 === 3 ? 0 : samples, end, stopped);
    const reached = t.length;
    if (stopped && t[reached - 1] === end) {
      const last = [...this.numbers(x!, model.x0.length), ...this.numbers(xd!, model.xd0.length)];
      this.numbers(rows! + 8 * (reached - 1) * width, width).set(last);
    }
    this.set(at["times"]!, t);
    wasm.sb_show(at["times"]!, rows!, reached, at["p"]!, at["shown"]!);
    const wrong = code % 8 < 2 ? this.firstWithout(t) : null;
    return {
      p,
      ending: wrong ? "failed" : ENDINGS[code % 8]!,
      reason: wrong ? `${wrong.name} is not finite` : code % 8 < 2 ? "" : REASONS[code >> 3] || NEEDS,
      end: wrong ? wrong.time : end,
      steps,
      rows: this.numbers(rows!, reached * width).slice(),
      t,
      shown: this.numbers(at["shown"]!, reached * this.width).slice(),
      meters: this.numbers(meters!, model.meters).slice(),
      took: performance.now() - began,
    };
  }

  /** How many known times at which signals switch are in place; null if there are too many. */
  private knownTimes(): number | null {
    const { model, wasm, places } = this;
    if (!model.edges.count) {
      return 0;
    }
    wasm.sb_edges(places["p"]!, places["edges"]!);
    const rounded = this.numbers(places["edges"]!, model.edges.count);
    const edges = exactValues(model.edges.steps, this.numbers(places["p"]!, model.p.length), rounded);
    const times = switchTimes(edges, model.start, model.numbers[0]!);
    if (times === null) {
      return null;
    }
    if (times.length > this.known.room) {
      this.known = { at: this.room(2 * times.length), room: 2 * times.length };
    }
    this.set(this.known.at, times);
    return times.length;
  }

  /** The first kept signal that is no finite number, and when. */
  private firstWithout(t: Float64Array): { name: string; time: number } | null {
    const shown = this.numbers(this.places["shown"]!, t.length * this.width);
    const kept = this.model.signals.filter((signal) => signal.kept);
    for (let row = 0; row < t.length; row++) {
      for (const { name, at, count } of kept) {
        for (let k = at; k < at + count; k++) {
          if (!Number.isFinite(shown[row * this.width + k]!)) {
            return { name, time: t[row]! };
          }
        }
      }
    }
    return null;
  }

  /** The times of rows: samples up to the end of the run, and that of its stop. */
  private times(samples: number, end: number, stopped: boolean): Float64Array {
    let count = samples;
    while (count > 0 && this.samples[count - 1]! > end) {
      count--;
    }
    const t = this.samples.slice(0, count);
    return stopped && count < samples && t[count - 1] !== end ? Float64Array.of(...t, end) : t;
  }

  private refused(p: Float64Array, reason: string): Run {
    const none = new Float64Array(0);
    const { start } = this.model;
    return { p, ending: "refused", reason, end: start, steps: 0, t: none, rows: none, shown: none, meters: none, took: 0 };
  }

  private room(count: number): number {
    const at = this.wasm.sb_room(8 * Math.max(count, 1));
    if (at === 0) {
      throw new Error("this run needs more memory than a page may have");
    }
    return at;
  }

  private put(values: Float64Array | Uint8Array): number {
    const at = this.room(Math.ceil(values.byteLength / 8));
    new Uint8Array(this.wasm.memory.buffer).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    return at;
  }

  private set(at: number, values: Float64Array): void {
    this.numbers(at, values.length).set(values);
  }

  private numbers(at: number, count: number): Float64Array {
    return new Float64Array(this.wasm.memory.buffer, at, count);
  }
}
