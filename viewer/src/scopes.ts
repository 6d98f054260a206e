// The scopes: a plot per scope of the diagram, with the page's time cursor and the values there.

import { make, setText } from "./dom";
import { valueText } from "./numbers";
import { type Area, COLOURS, coloursOf, drawPlot, MARGIN, rangeOf, scaled, sized, timeOf, xOf } from "./plot";
import type { Motion, Series, Signal } from "./recording";
import { valuesAt } from "./tracks";

const HEIGHT = 150;

/** The plots of a motion by the numbers of their scopes. */
export function scopesOf(motion: Motion, seek: (time: number) => void): Scope[] {
  const byNumber = new Map<number, Signal[]>();
  for (const signal of motion.signals) {
    if (signal.scope !== null) {
      byNumber.set(signal.scope, [...(byNumber.get(signal.scope) ?? []), signal]);
    }
  }
  const numbers = [...byNumber.keys()].sort((a, b) => a - b);
  return numbers.map((number) => {
    const signals = byNumber.get(number)!;
    const title = motion.scopes[number] || signals.map(({ name }) => name).join(", ");
    return new Scope(title, signals, [motion.start, motion.end], seek);
  });
}

export class Scope {
  readonly element: HTMLElement;
  private readonly lines = make("canvas");
  private readonly cursor = make("canvas");
  private readonly readout: Readout;
  private readonly area: Area;
  private past: Series[][] = [];

  constructor(
    title: string,
    private readonly signals: Signal[],
    x: [number, number],
    seek: (time: number) => void,
  ) {
    this.area = { width: 0, height: HEIGHT, x, y: rangeOf(signals.map(({ series }) => series)) };
    this.readout = new Readout(signals, true);
    const units = [...new Set(signals.map(({ unit }) => unit).filter(Boolean))].join(", ");
    const label = `${title}${units ? ` [${units}]` : ""}`;
    const plot = make("div", { class: "plot", role: "img", "aria-label": `${label} over time` }, this.lines, this.cursor);
    this.element = make("figure", { class: "scope" }, make("figcaption", {}, label), plot, this.readout.element);
    this.cursor.addEventListener("pointerdown", (event) => this.cursor.setPointerCapture(event.pointerId));
    for (const kind of ["pointerdown", "pointermove"] as const) {
      this.cursor.addEventListener(kind, (event) => {
        if (event.buttons & 1) {
          seek(timeOf(this.area, event.offsetX));
        }
      });
    }
    new ResizeObserver(() => this.redraw()).observe(plot);
  }

  /** The series have changed. past: earlier ones of the same signals, by their names. */
  update(past: readonly ReadonlyMap<string, Series>[]): void {
    this.past = past.map((one) => this.signals.flatMap(({ name }) => one.get(name) ?? []));
    this.area.y = rangeOf([...this.signals.map(({ series }) => series), ...this.past.flat()]);
    this.redraw();
  }

  /** Draw the lines anew, for another width or other colours. */
  redraw(): void {
    const width = this.lines.parentElement!.clientWidth;
    if (width === 0) {
      return;
    }
    this.area.width = width;
    for (const canvas of [this.lines, this.cursor]) {
      sized(canvas, width, HEIGHT);
    }
    const colours = coloursOf(this.element);
    drawPlot(scaled(this.lines), this.area, this.signals.map(({ series }) => series), colours, this.past);
    this.drawCursor();
  }

  show(time: number): void {
    this.time = time;
    this.drawCursor();
    this.readout.show(time);
  }

  private time = 0;

  private drawCursor(): void {
    const context = scaled(this.cursor);
    context.clearRect(0, 0, this.area.width, HEIGHT);
    context.fillStyle = getComputedStyle(this.element).getPropertyValue("--cursor");
    context.fillRect(xOf(this.area, this.time) - 0.75, MARGIN.top, 1.5, HEIGHT - MARGIN.top - MARGIN.bottom);
  }
}

/** The values of some signals at the cursor, as texts. */
export class Readout {
  readonly element: HTMLElement;
  private readonly values: HTMLElement[][];

  /** coloured: whether the entries are also the legend of a plot. */
  constructor(private readonly signals: readonly Signal[], coloured: boolean) {
    let line = 0;
    this.element = make("ul", { class: "readout" });
    this.values = signals.map((signal) =>
      Array.from({ length: signal.series.columns }, (_, column) => {
        const value = make("output");
        const swatch = make("i", { style: `background:${COLOURS[line++ % COLOURS.length]}` });
        const name = labelOf(signal, column, signals.length > 1 || !coloured);
        this.element.append(make("li", {}, ...(coloured ? [swatch] : []), `${name} `, value));
        return value;
      }),
    );
  }

  show(time: number): void {
    this.signals.forEach((signal, index) => {
      valuesAt(signal.series, time).forEach((value, column) => {
        setText(this.values[index]![column]!, valueText(value));
      });
    });
  }
}

/** What a column of a signal is called. */
export function labelOf({ name, labels, series }: Signal, column: number, full: boolean): string {
  const label = labels[column];
  if (label) {
    return label;
  }
  if (series.columns === 1) {
    return name;
  }
  return full ? `${name}[${column}]` : `[${column}]`;
}
