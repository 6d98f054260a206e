// Widgets that show numbers: displays, tables, gauges and lamps.

import { useRef } from "react";

import { setText } from "../../../viewer/src/dom";
import { niceStep, valueText } from "../../../viewer/src/numbers";
import { useRunsState } from "../run/book";
import { partsOf } from "../scopes/lines";
import { useDrawn } from "./drawn";
import type { Live } from "./live";
import { titleOf, type Widget } from "./widgets";

interface Props {
  live: Live;
  widget: Widget;
}

interface Row {
  key: string;
  label: string;
  unit: string;
}

/** A row for each number of what a widget is bound to. */
function useRows(live: Live, { of }: Widget): Row[] {
  const run = useRunsState(live.runs, () => live.runs.run);
  if (!run) return of.map((name) => ({ key: name, label: name, unit: "" }));
  return of.flatMap((name): Row[] => {
    const element = live.elementOf(name);
    if (!element) return [{ key: name, label: `${name}: not in this run`, unit: "" }];
    return partsOf(run, element.signal).filter(({ component }) => element.component === null || component === element.component);
  });
}

export function Table({ live, widget }: Props) {
  const rows = useRows(live, widget);
  const body = useRef<HTMLTableSectionElement>(null);
  useDrawn(live, () => {
    const cells = body.current?.querySelectorAll("td:first-of-type") ?? [];
    const values = widget.of.flatMap((name) => {
      const all = live.numbers(name);
      return all.length ? all : rows.filter(({ key }) => key === name || key.startsWith(`${name}[`)).map(() => NaN);
    });
    cells.forEach((cell, k) => setText(cell, valueText(values[k] ?? NaN)));
  });
  return (
    <div className="widget-rows" tabIndex={0} role="group" aria-label={titleOf(widget)}>
      <table>
        <tbody ref={body}>
          {rows.map(({ key, label, unit }) => <tr key={key}><th scope="row">{label}</th><td /><td className="note">{unit}</td></tr>)}
        </tbody>
      </table>
    </div>
  );
}

export function Display({ live, widget }: Props) {
  const rows = useRows(live, widget);
  const text = useRef<HTMLOutputElement>(null);
  useDrawn(live, () => text.current && setText(text.current, valueText(live.numbers(widget.of[0] ?? "")[0] ?? NaN)));
  if (rows.length > 1) return <Table live={live} widget={widget} />;
  return (
    <p className="widget-display">
      <output ref={text} aria-live="off" aria-label={titleOf(widget)} /> <span className="note">{rows[0]?.unit}</span>
    </p>
  );
}

export function Lamp({ live, widget }: Props) {
  const lamp = useRef<HTMLDivElement>(null);
  const word = useRef<HTMLSpanElement>(null);
  const name = titleOf(widget);
  useDrawn(live, () => {
    const [value] = live.numbers(widget.of[0] ?? "");
    const state = value === undefined || Number.isNaN(value) ? "unknown" : value >= (widget.level ?? 0.5) ? "on" : "off";
    if (!lamp.current || !word.current) return;
    lamp.current.dataset["state"] = state;
    lamp.current.ariaLabel = `${name}: ${state}`;
    setText(word.current, state);
  });
  return <div className="widget-lamp" ref={lamp} role="img"><i /><span ref={word} aria-hidden="true" /></div>;
}

const [MIDDLE, RADIUS] = [50, 40];

/** A scale of half a circle, from its least to its most. */
export function Gauge({ live, widget }: Props) {
  const figure = useRef<HTMLDivElement>(null);
  const rows = useRows(live, widget);
  const name = titleOf(widget);
  useDrawn(live, () => {
    const element = figure.current;
    if (!element) return;
    const value = live.numbers(widget.of[0] ?? "")[0] ?? NaN;
    const [least, most] = scaleOf(live, widget);
    const share = Number.isNaN(value) ? 0 : Math.min(Math.max((value - least) / (most - least), 0), 1);
    const [needle, low, high, now] = ["path:last-of-type", ".least", ".most", ".now"].map((one) => element.querySelector(one)!);
    needle!.setAttribute("d", arc(share));
    [[low, least], [high, most], [now, value]].forEach(([one, number]) => setText(one as Element, valueText(number as number)));
    element.ariaValueMin = String(least);
    element.ariaValueMax = String(most);
    element.ariaValueNow = String(Number.isNaN(value) ? least : Math.min(Math.max(value, least), most));
    element.ariaValueText = `${valueText(value)} ${rows[0]?.unit ?? ""}`;
  });
  return (
    <div className="widget-gauge" ref={figure} role="meter" aria-label={name} aria-valuenow={0} aria-valuemin={0} aria-valuemax={1}>
      <svg viewBox="0 0 100 62" aria-hidden="true">
        <path d={arc(1)} className="track" />
        <path d={arc(0)} className="value" />
        <text x="50" y="48" className="now" />
        <text x="10" y="61" className="least" />
        <text x="90" y="61" className="most" />
        <text x="50" y="60" className="unit">{rows[0]?.unit}</text>
      </svg>
    </div>
  );
}

function arc(share: number): string {
  const angle = Math.PI * (1 - share);
  const [x, y] = [MIDDLE + RADIUS * Math.cos(angle), MIDDLE - RADIUS * Math.sin(angle)];
  return `M${MIDDLE - RADIUS} ${MIDDLE}A${RADIUS} ${RADIUS} 0 0 1 ${x.toFixed(2)} ${y.toFixed(2)}`;
}

/** The ends of a gauge: as they are given, or round numbers about all of the record. */
function scaleOf(live: Live, { of: [name = ""], least, most }: Widget): [number, number] {
  const element = live.elementOf(name);
  const column = element && live.record?.tableOf(element.signal)?.columns.get(element.signal)?.[element.component ?? 0];
  const { low, high } = column?.extremes(0, column.values.length) ?? { low: NaN, high: NaN };
  const [from, to] = Number.isFinite(low) ? [Math.min(low, 0), Math.max(high, 0)] : [0, 1];
  const step = niceStep(Math.max(to - from, 1e-12), 5);
  const found: [number, number] = [least ?? Math.floor(from / step) * step, most ?? Math.ceil(to / step) * step];
  return found[1] > found[0] ? found : [found[0], found[0] + 1];
}
