// Curves over an axis other than time, by uPlot, which draws their axes; and a dot that moves without
// drawing.

import uPlot from "uplot";

import type { LineStyle } from "../scopes/styles";
import type { View } from "../scopes/thinning";
import { STEPS, texts } from "../scopes/ticks";

export interface Curve {
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  style: Pick<LineStyle, "colour" | "dash" | "width">;
}

export class Curves {
  private readonly chart: uPlot;
  private readonly dot = document.createElement("div");
  private curves: readonly Curve[] = [];
  private x: View = [0, 1];
  private y: View = [0, 1];

  constructor(private readonly host: HTMLElement, labels: readonly [x: string, y: string]) {
    this.chart = new uPlot(this.options(labels), [[0, 1], [null, null]], host);
    this.dot.className = "curve-dot";
    this.chart.over.append(this.dot);
  }

  draw(curves: readonly Curve[], x: View, y: View): void {
    this.curves = curves;
    this.x = x;
    this.y = y;
    this.chart.setData([[...x], [null, null]], true);
  }

  /** Put the dot at a point; null: nowhere. */
  point(at: readonly [x: number, y: number] | null): void {
    const { width, height } = this.chart.bbox;
    const [left, top] = at ? [(at[0] - this.x[0]) / (this.x[1] - this.x[0]), (this.y[1] - at[1]) / (this.y[1] - this.y[0])] : [-1, -1];
    const inside = left >= 0 && left <= 1 && top >= 0 && top <= 1;
    const place = `translate(${((left * width) / uPlot.pxRatio).toFixed(1)}px, ${((top * height) / uPlot.pxRatio).toFixed(1)}px)`;
    this.dot.style.transform = inside ? place : "scale(0)";
  }

  resize(width: number, height: number): void {
    if (width > 0 && height > 0) this.chart.setSize({ width, height });
  }

  destroy(): void {
    this.chart.destroy();
  }

  private options([x, y]: readonly [string, string]): uPlot.Options {
    const style = getComputedStyle(this.host);
    const [grid, ink] = [style.getPropertyValue("--plot-grid"), style.getPropertyValue("--plot-ink")];
    const font = "11px system-ui, sans-serif";
    const axis = {
      stroke: ink, font, incrs: STEPS, labelFont: font, labelGap: 0,
      grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 },
      values: (_: uPlot, splits: number[]) => texts(splits),
    };
    return {
      width: Math.max(this.host.clientWidth, 50),
      height: Math.max(this.host.clientHeight, 50),
      padding: [8, 12, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => [...this.x] }, y: { range: () => [...this.y] } },
      axes: [
        { ...axis, size: 24, space: 50, label: x, labelSize: 15 },
        { ...axis, size: 52, space: 26, label: y, labelSize: 15 },
      ],
      series: [{}, { show: true, points: { show: false } }],
      cursor: { points: { show: false }, drag: { x: false, y: false, setScale: false } },
      hooks: { draw: [() => this.paint()] },
    };
  }

  private paint(): void {
    const { ctx, bbox } = this.chart;
    const { left, top, width, height } = bbox;
    const [x0, x1] = this.x;
    const [y0, y1] = this.y;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.lineJoin = "round";
    for (const { x, y, style } of this.curves) {
      ctx.beginPath();
      ctx.strokeStyle = style.colour;
      ctx.lineWidth = style.width * uPlot.pxRatio;
      ctx.setLineDash(style.dash.map((length) => length * uPlot.pxRatio));
      let joined = false;
      for (let k = 0; k < x.length; k++) {
        const [at, of] = [left + ((x[k]! - x0) / (x1 - x0)) * width, top + ((y1 - y[k]!) / (y1 - y0)) * height];
        const there = at === at && of === of; // NaN breaks the line
        if (there) joined ? ctx.lineTo(at, of) : ctx.moveTo(at, of);
        joined = there;
      }
      ctx.stroke();
    }
    ctx.restore();
  }
}
