// One plot by uPlot: lines of records, thinned to its pixels with each drawing; the cursor of time
// lies over it and moves without drawing.

import uPlot from "uplot";

import { niceStep } from "../../../viewer/src/numbers";
import { valueAt } from "../run/record";
import type { Line } from "./lines";
import { SIGNS } from "./styles";
import { STEPS, texts } from "./ticks";
import { heightOf, type Points, thinned, trace, type View } from "./thinning";

const MOST_COLUMNS = 2000;
const SIGN_RADIUS = 3.6; // pixels
const LEFT = 64; // pixels, for the texts of ticks

export interface Asked {
  seek(time: number): void;
  /** Shift and click. */
  mark(time: number): void;
  zoom(view: View): void;
  /** Where a click was, before a double click; then the view is reset. */
  reset(): void;
  hover(time: number | null, value: number): void;
}

export class Plot {
  private readonly cursor = document.createElement("div");
  private readonly mark = document.createElement("div");
  private readonly chart: uPlot;
  private view: View = [0, 1];
  private heightZoom: View | null = null;
  private drawn = "";
  private points: Points[] = [];

  constructor(
    private readonly host: HTMLElement,
    private readonly lines: readonly Line[],
    private readonly asked: Asked,
    unit: string,
  ) {
    this.chart = new uPlot(this.options(unit), [[0, 1], ...lines.map(() => [null, null])], host);
    this.cursor.className = "time-cursor";
    this.mark.className = "time-cursor time-mark";
    this.chart.over.append(this.mark, this.cursor);
    this.listen();
  }

  /** Draw anew where the view, the size or the rows have changed. */
  draw(view: View): void {
    const { width, height } = this.chart;
    const rows = this.lines.map(({ record }) => record.version).join();
    const what = `${view[0]} ${view[1]} ${width} ${height} ${rows} ${this.heightZoom?.join()}`;
    if (what === this.drawn) return;
    this.drawn = what;
    this.view = view;
    const count = Math.min(Math.max(Math.round(this.chart.bbox.width), 10), MOST_COLUMNS);
    this.points = this.lines.map(({ record, signal, component }) => {
      const table = record.tableOf(signal, view);
      const column = table?.columns.get(signal)?.[component];
      return table && column ? thinned(table.t.view(), column, view, count) : [];
    });
    const heights = this.points.map((points) => heightOf(points, view));
    this.chart.setData([[...view], ...heights], true);
  }

  /** The path of a line; uPlot itself knows only its extremes. */
  private path(line: number): uPlot.Series.Paths {
    const stroke = new Path2D();
    const { chart } = this;
    const [x0, x1] = this.view;
    const [y0, y1] = this.heights;
    const { left, top, width, height } = chart.bbox;
    const x = (time: number): number => left + ((time - x0) / (x1 - x0)) * width;
    const y = (value: number): number => top + (1 - (value - y0) / (y1 - y0)) * height;
    trace(
      this.points[line] ?? [],
      (time, value) => stroke.moveTo(x(time), y(value)),
      (time, value) => stroke.lineTo(x(time), y(value)),
    );
    return { stroke, fill: null, clip: null, flags: 0 } as unknown as uPlot.Series.Paths;
  }

  /** Put the cursor at a time, and the one that is measured from at another. */
  point(time: number, mark: number | null): void {
    this.put(this.cursor, time);
    this.put(this.mark, mark ?? NaN);
  }

  private put(line: HTMLElement, time: number): void {
    const [from, to] = this.view;
    const share = to > from ? (time - from) / (to - from) : 0;
    const inside = share >= 0 && share <= 1;
    const width = this.chart.bbox.width / uPlot.pxRatio; // known without a layout
    line.style.transform = inside ? `translateX(${(share * width).toFixed(1)}px)` : "scaleX(0)";
  }

  resize(width: number, height: number): void {
    if (width > 0 && height > 0) this.chart.setSize({ width, height });
  }

  resetHeight(): void {
    this.heightZoom = null;
  }

  /** The picture, as it is drawn. */
  get canvas(): HTMLCanvasElement {
    return this.chart.ctx.canvas;
  }

  get shownView(): View {
    return this.view;
  }

  get heights(): View {
    const { min = 0, max = 1 } = this.chart.scales["y"]!;
    return [min, max];
  }

  destroy(): void {
    this.chart.destroy();
  }

  private options(unit: string): uPlot.Options {
    const style = getComputedStyle(this.host);
    const [grid, ink] = [style.getPropertyValue("--plot-grid"), style.getPropertyValue("--plot-ink")];
    const axis = {
      stroke: ink,
      font: "11px system-ui, sans-serif",
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid, width: 1, size: 4 },
      incrs: STEPS,
      values: (_: uPlot, splits: number[]) => texts(splits),
    };
    return {
      width: Math.max(this.host.clientWidth, 50),
      height: Math.max(this.host.clientHeight, 50),
      padding: [8, 10, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [...this.view] },
        y: { range: (_, low, high) => (this.heightZoom ? [...this.heightZoom] : widened(low, high)) },
      },
      axes: [
        { ...axis, size: 26, space: 70 },
        { ...axis, size: LEFT, space: 26, label: unit || undefined, labelSize: unit ? 16 : 0, labelFont: axis.font, labelGap: 0 },
      ],
      series: [{}, ...this.lines.map((line, index) => ({ ...seriesOf(line), paths: () => this.path(index) }))],
      cursor: {
        points: { show: false },
        drag: { x: true, y: true, uni: 24, setScale: false },
        bind: { dblclick: () => null },
      },
      hooks: {
        setSelect: [() => this.select()],
        draw: [() => this.drawSigns()],
        setCursor: [() => this.hover()],
      },
    };
  }

  private listen(): void {
    let from: [number, number] | null = null;
    const { over } = this.chart;
    over.addEventListener("pointerdown", (event) => (from = event.button === 0 ? [event.clientX, event.clientY] : null));
    over.addEventListener("click", (event) => {
      const still = from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 4;
      if (still) this.asked[event.shiftKey ? "mark" : "seek"](this.chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    });
    over.addEventListener("dblclick", () => {
      this.resetHeight();
      this.asked.reset();
    });
  }

  private select(): void {
    const { select, over } = this.chart;
    const value = (at: number, scale: "x" | "y"): number => this.chart.posToVal(at, scale);
    const { left, top, width, height } = select;
    if (width < 4 && height < 4) return;
    if (height < over.clientHeight) this.heightZoom = [value(top + height, "y"), value(top, "y")];
    this.chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    const whole = width >= over.clientWidth || width < 4;
    this.asked.zoom(whole ? this.view : [value(left, "x"), value(left + width, "x")]);
  }

  private hover(): void {
    const { left = -1, top = -1 } = this.chart.cursor;
    if (left < 0) this.asked.hover(null, 0);
    else this.asked.hover(this.chart.posToVal(left, "x"), this.chart.posToVal(top, "y"));
  }

  /** Signs along the lines, at round times, so that they go with the lines. */
  private drawSigns(): void {
    const [from, to] = this.view;
    const step = niceStep(to - from, 5);
    const { ctx, bbox } = this.chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    this.lines.forEach((line, index) => {
      const shift = ((index % 7) / 7 + 0.07) * step;
      const table = line.record.tableOf(line.signal, this.view);
      const column = table?.columns.get(line.signal)?.[line.component];
      if (!table || !column) return;
      const t = table.t.view();
      ctx.fillStyle = line.style.colour;
      for (let time = Math.ceil((from - shift) / step) * step + shift; time <= to; time += step) {
        if (time < t[0]! || time > t[t.length - 1]!) continue;
        const value = valueAt(t, column, time);
        if (!Number.isNaN(value)) {
          drawSign(ctx, line.style.sign, this.chart.valToPos(time, "x", true), this.chart.valToPos(value, "y", true));
        }
      }
    });
    ctx.restore();
  }
}

function seriesOf({ label, style }: Line): uPlot.Series {
  const ratio = uPlot.pxRatio;
  return { label, stroke: style.colour, width: style.width, dash: style.dash.map((length) => length * ratio), points: { show: false } };
}

function drawSign(ctx: CanvasRenderingContext2D, sign: number, x: number, y: number): void {
  const radius = SIGN_RADIUS * uPlot.pxRatio;
  const corners = SIGNS[sign]!;
  ctx.beginPath();
  if (corners.length === 0) ctx.arc(x, y, radius, 0, 2 * Math.PI);
  else corners.forEach(([dx, dy]) => ctx.lineTo(x + radius * dx, y + radius * dy));
  ctx.fill();
}

/** A range a little wider than the values; never empty. */
export function widened(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [-1, 1];
  const least = 1e-9 * Math.max(Math.abs(low), Math.abs(high)) || 1;
  const pad = high - low > least ? 0.06 * (high - low) : Math.max(0.5 * Math.abs(high), least);
  return [low - pad, high + pad];
}
