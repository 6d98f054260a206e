// A small sweep over one or two parameters, computed in threads: a curve or a map of a quantity.

import { make } from "../dom";
import { valueText } from "../numbers";
import { type Area, COLOURS, coloursOf, drawPlot, MARGIN, scaled, sized } from "../plot";
import { judge, SHOWN } from "./claims";
import type { Model } from "./data";
import type { Code, Run } from "./program";
import { newWorker } from "./runner";
import type { Knob, Values } from "./values";
import type { Answer, Ask } from "./worker";

const CURVE = 41;
const MAP = 17;
const HEIGHT = 200;
const MOST_THREADS = 4;
const AT_ONCE = 4;

/** What a sweep measures of each run. */
export interface Quantity {
  label: string;
  of(run: Run): number;
}

/** For each element of each claim what it is about, and whether it holds. */
export function quantitiesOf(model: Model): Quantity[] {
  const found = model.claims.flatMap((claim): Quantity[] => {
    const held: Quantity = { label: `${claim.name}: holds (1) or not (0)`, of: (run) => Number(judge(claim, run).held) };
    const [what, at] = SHOWN[claim.judged] ?? ["", 0];
    const values = !what ? [] : claim.at.map((place, k): Quantity => ({
      label: `${claim.name}: ${what}${claim.at.length > 1 ? `, element ${k}` : ""}`,
      of: ({ meters, ending }) => (ending === "failed" || ending === "refused" ? NaN : meters[place + at]!),
    }));
    return [...values, held];
  });
  const ends: Quantity = { label: "end of the run [s]", of: ({ end }) => end };
  return [...found, ends];
}

/** The grid of values of one knob. */
export function gridOf({ min, max }: Knob, count: number): number[] {
  return Array.from({ length: count }, (_, k) => min + ((max - min) * k) / (count - 1));
}

export class SweepPanel {
  readonly element = make("div", { class: "sweep" });
  private readonly quantities: Quantity[];
  private readonly canvas = make("canvas", { role: "img" });
  private readonly note = make("output", { class: "note" });
  private readonly choices: HTMLSelectElement[];
  private readonly button: HTMLButtonElement;
  private workers: Worker[] = [];

  constructor(private readonly model: Model, private readonly code: Code, private readonly values: Values) {
    this.quantities = quantitiesOf(model);
    const knobs = values.knobs.map(({ name }) => name);
    const names = [knobs, ["one parameter only", ...knobs], this.quantities.map(({ label }) => label)];
    this.choices = names.map((options, number) => {
      const choice = make("select", { "aria-label": ["over", "and over", "of"][number]! });
      choice.append(...options.map((text, value) => make("option", { value }, text)));
      return choice;
    });
    this.button = make("button", { type: "button", onclick: () => (this.workers.length ? this.stop("stopped") : this.start()) }, "Sweep");
    const labels = ["over", "and", "of"].map((text, k) => make("label", {}, `${text} `, this.choices[k]!));
    this.element.append(make("div", { class: "asked" }, ...labels, this.button), this.note, this.canvas);
    this.canvas.hidden = true;
  }

  private start(): void {
    const [first, second, of] = this.choices.map(({ value }) => Number(value)) as [number, number, number];
    const x = this.values.knobs[first];
    const y = second > 0 ? this.values.knobs[second - 1] : undefined;
    const quantity = this.quantities[of];
    if (!x || !quantity || x === y) {
      this.note.textContent = x === y ? "Choose two different parameters." : "There is nothing to sweep.";
      return;
    }
    const columns = gridOf(x, y ? MAP : CURVE);
    const rows = y ? gridOf(y, MAP) : [NaN];
    const points = rows.flatMap((b) => columns.map((a) => this.pointOf(x, a, y, b)));
    const found = new Array<number>(points.length).fill(NaN);
    this.compute(points, (at, run) => {
      found[at] = quantity.of(run);
    }, () => this.draw(found, columns, rows, x, y, quantity.label));
  }

  private pointOf(x: Knob, a: number, y: Knob | undefined, b: number): Float64Array {
    const p = this.values.p.slice();
    x.places.forEach((place) => (p[place] = a));
    y?.places.forEach((place) => (p[place] = b));
    return p;
  }

  /** Give the points to threads, a few at once. */
  private compute(points: readonly Float64Array[], each: (at: number, run: Run) => void, done: () => void): void {
    const threads = Math.min(MOST_THREADS, Math.max(1, navigator.hardwareConcurrency - 1), points.length);
    let next = 0;
    let ended = 0;
    this.button.textContent = "Stop";
    const give = (worker: Worker): void => {
      const from = next;
      next = Math.min(next + AT_ONCE, points.length);
      if (from < next) {
        worker.postMessage({ id: from, p: points.slice(from, next), show: false } satisfies Ask);
      }
    };
    try {
      this.workers = Array.from({ length: threads }, () => newWorker(this.model, this.code));
    } catch {
      this.stop("this browser allows no threads here");
      return;
    }
    for (const worker of this.workers) {
      worker.onerror = () => this.stop("a thread ended with an error");
      worker.onmessage = ({ data: { id, runs, error } }: MessageEvent<Answer>) => {
        if (error) {
          this.stop(error);
          return;
        }
        runs.forEach((run, k) => each(id + k, run));
        ended += runs.length;
        this.note.textContent = `${ended} of ${points.length} runs`;
        if (ended === points.length) {
          this.stop(`${points.length} runs`);
          done();
        } else {
          give(worker);
        }
      };
      give(worker);
    }
  }

  private stop(note: string): void {
    this.workers.forEach((worker) => worker.terminate());
    this.workers = [];
    this.button.textContent = "Sweep";
    this.note.textContent = note;
  }

  private draw(found: number[], columns: number[], rows: number[], x: Knob, y: Knob | undefined, label: string): void {
    const { canvas } = this;
    canvas.hidden = false;
    const width = canvas.parentElement!.clientWidth || 300;
    canvas.style.height = `${HEIGHT}px`;
    sized(canvas, width, HEIGHT);
    const context = scaled(canvas);
    const finite = found.filter(Number.isFinite);
    const [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 0];
    const pad = high > low ? 0.06 * (high - low) : Math.abs(high) / 2 || 1;
    const range: [number, number] = [columns[0]!, columns.at(-1)!];
    const area: Area = { width, height: HEIGHT, x: range, y: y ? [rows[0]!, rows.at(-1)!] : [low - pad, high + pad] };
    const series = { t: Float64Array.from(columns), columns: 1, values: Float64Array.from(found) };
    drawPlot(context, area, y ? [] : [series], coloursOf(this.element));
    if (y) {
      drawMap(context, area, found, columns.length, low, high);
    }
    const over = y ? `${x.name} (across) and ${y.name} (up)` : x.name;
    const text = `${label} over ${over}: from ${valueText(low)}${y ? " (faint)" : ""} to ${valueText(high)}${y ? " (strong)" : ""}`;
    canvas.setAttribute("aria-label", text);
    this.note.textContent = `${text}; ${found.length} runs${found.length > finite.length ? `, ${found.length - finite.length} without a value` : ""}`;
  }
}

function drawMap(context: CanvasRenderingContext2D, { width, height }: Area, found: number[], columns: number, low: number, high: number): void {
  const rows = found.length / columns;
  const { left, top } = MARGIN;
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
  const [wide, tall] = [(right - left) / columns, (bottom - top) / rows];
  found.forEach((value, at) => {
    if (!Number.isFinite(value)) {
      return;
    }
    const share = high > low ? (value - low) / (high - low) : 0.5;
    context.globalAlpha = 0.12 + 0.88 * share;
    context.fillStyle = COLOURS[0]!;
    const [column, row] = [at % columns, Math.floor(at / columns)];
    const [x, y] = [Math.round(left + column * wide), Math.round(bottom - (row + 1) * tall)];
    context.fillRect(x, y, Math.round(left + (column + 1) * wide) - x, Math.round(bottom - row * tall) - y);
  });
  context.globalAlpha = 1;
}
