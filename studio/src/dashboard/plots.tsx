// Widgets with curves: one signal over another, and spectra.

import { type RefObject, useEffect, useMemo, useRef } from "react";

import { timeText } from "../../../viewer/src/clock";
import { setText } from "../../../viewer/src/dom";
import { valueText } from "../../../viewer/src/numbers";
import type { RunRecord } from "../run/record";
import { useDark } from "../scopes/dark";
import { widened } from "../scopes/plot";
import { styleOf } from "../scopes/styles";
import { hearSize } from "../run/sizes";
import { type Curve, Curves } from "./curves";
import { useDrawn } from "./drawn";
import type { Live } from "./live";
import { peakOf, spectrumOf } from "./spectrum";
import { titleOf, type Widget } from "./widgets";
import { pointsOf, type Series, spanOf } from "./xy";

const SLOWLY = 200; // ms

interface Props {
  live: Live;
  widget: Widget;
}

/** The rows of a name in a record. */
function seriesOf(live: Live, record: RunRecord, name: string): Series | null {
  const element = live.elementOf(name);
  const table = element && record.tableOf(element.signal);
  const column = table?.columns.get(element!.signal)?.[element!.component ?? 0];
  return table && column && table.t.length > 0 ? { table, t: table.t.view(), column } : null;
}

/** Curves in an element, made anew with other labels or colours. */
function useCurves(host: RefObject<HTMLDivElement | null>, x: string, y: string, redraw: () => void): RefObject<Curves | null> {
  const made = useRef<Curves | null>(null);
  const dark = useDark();
  const again = useRef(redraw);
  again.current = redraw;
  useEffect(() => {
    const element = host.current!;
    const curves = new Curves(element, [x, y]);
    made.current = curves;
    const resized = (): void => {
      curves.resize(element.clientWidth, element.clientHeight);
      again.current();
    };
    const end = hearSize(element, resized);
    return () => {
      end();
      curves.destroy();
      made.current = null;
    };
  }, [host, x, y, dark]);
  return made;
}

export function XyPlot({ live, widget }: Props) {
  const [x = "", y = ""] = widget.of;
  const host = useRef<HTMLDivElement>(null);
  const before = useRef("");
  const curves = useCurves(host, x, y, () => (before.current = ""));
  useDrawn(live, () => {
    const { runs } = live;
    if (!curves.current) return;
    const known = runs.together.map(({ run, record }) => `${run.run} ${record.version}`).join();
    if (before.current !== `${known} ${x} ${y}`) {
      before.current = `${known} ${x} ${y}`;
      const found = runs.together.flatMap(({ record }, order): Curve[] => {
        const [along, over] = [seriesOf(live, record, x), seriesOf(live, record, y)];
        return along && over ? [{ ...pointsOf(along, over), style: styleOf(0, order) }] : [];
      });
      curves.current.draw(found, widened(...spanOf(...found.map((one) => one.x))), widened(...spanOf(...found.map((one) => one.y))));
    }
    const [[atX], [atY]] = [live.numbers(x), live.numbers(y)];
    curves.current.point(atX === undefined || atY === undefined ? null : [atX, atY]);
  }, 0);
  if (widget.of.length < 2) return <p className="widget-none">It needs two signals: x, then y.</p>;
  return <div className="widget-plot" ref={host} role="img" aria-label={titleOf(widget)} />;
}

export function SpectrumPlot({ live, widget }: Props) {
  const { of, seconds, decibels } = widget;
  const host = useRef<HTMLDivElement>(null);
  const about = useRef<HTMLParagraphElement>(null);
  const before = useRef("");
  const unit = useMemo(() => unitOf(live, of[0] ?? ""), [live, of]);
  const curves = useCurves(host, "f [Hz]", decibels ? `dB of 1 ${unit || "unit"}` : `amplitude ${unit && `[${unit}]`}`, () => (before.current = ""));
  useDrawn(live, () => {
    const { runs } = live;
    const { time, start } = runs.timeline;
    const known = [time, of.join(), seconds, decibels, ...runs.together.map(({ run, record }) => `${run.run} ${record.version}`)].join();
    if (!curves.current || before.current === known) return;
    before.current = known;
    const from = Math.max(seconds ? time - seconds : start, start);
    const words: string[] = [];
    const found = runs.together.flatMap(({ record }, order) =>
      of.flatMap((name, line): Curve[] => {
        const series = seriesOf(live, record, name);
        const spectrum = series && spectrumOf(series.t, series.column, from, time);
        if (!spectrum) return [];
        if (order === 0) words.push(`${of.length > 1 ? `${name}: ` : ""}peak at ${valueText(peakOf(spectrum))} Hz`);
        const y = decibels ? spectrum.amplitude.map((one) => 20 * Math.log10(Math.max(one, 1e-15))) : spectrum.amplitude;
        return [{ x: spectrum.f, y, style: styleOf(line, order) }];
      }),
    );
    const [, last] = spanOf(...found.map((one) => one.x));
    curves.current.draw(found, [0, last || 1], widened(...spanOf(...found.map((one) => one.y))));
    curves.current.point(null);
    const span = `${timeText(from, time - start)} to ${timeText(time, time - start)}`;
    if (about.current) setText(about.current, found.length ? `${words.join(", ")}; ${span}, Hann's window` : "It needs more rows of the signal.");
  }, SLOWLY);
  if (of.length === 0) return <p className="widget-none">It needs a signal.</p>;
  return (
    <>
      <div className="widget-plot" ref={host} role="img" aria-label={`Spectrum of ${titleOf(widget)}`} />
      <p className="widget-about" ref={about} />
    </>
  );
}

function unitOf(live: Live, name: string): string {
  const element = live.elementOf(name);
  return live.runs.run?.signals.find((one) => one.name === element?.signal)?.unit ?? "";
}
