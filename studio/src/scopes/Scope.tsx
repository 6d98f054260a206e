// One scope: its plot, its legend with the values at the cursor, and what can be done with it.

import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";

import { setText } from "../../../viewer/src/dom";
import { valueText } from "../../../viewer/src/numbers";
import { showPanel } from "../panels/kept";
import { useRunsState } from "../run/book";
import { atNextFrame, notAtNextFrame } from "../run/frames";
import type { Runs } from "../run/runs";
import { hearSize } from "../run/sizes";
import { patch, useStudio } from "../store";
import { useDark } from "./dark";
import { titleOf, toggleLine, withoutScope } from "./edit";
import { type Line, linesOf, partsOf, type ScopeOf, unitsOf } from "./lines";
import { Plot } from "./plot";
import { signPath, styleOf } from "./styles";

const SignalDialog = lazy(async () => ({ default: (await import("./SignalDialog")).SignalDialog }));
const ScopeSliders = lazy(async () => ({ default: (await import("./ScopeSliders")).ScopeSliders }));
const VALUES_EVERY = 80; // ms

export function Scope({ runs, scope }: { runs: Runs; scope: ScopeOf }) {
  const [choosing, setChoosing] = useState(false);
  const [pinning, setPinning] = useState(false);
  const pinned = useStudio((state) => state.kept["sliders"] !== undefined);
  const host = useRef<HTMLDivElement>(null);
  const figure = useRef<HTMLElement>(null);
  const hover = useRef<HTMLOutputElement>(null);
  const lines = useLines(runs, scope);
  const plot = usePlot(runs, lines, { host, figure, hover });
  const title = titleOf(scope);
  const save = async (how: "savePng" | "saveSvg"): Promise<void> => {
    const pictures = await import("./pictures");
    if (plot.current) pictures[how](title, lines, plot.current);
  };
  return (
    <figure className="scope" ref={figure} aria-label={`Scope: ${title}`}>
      <figcaption>
        <strong>{title}</strong>
        <span className="scope-tools" role="toolbar" aria-label={`Of ${title}`}>
          <button type="button" onClick={() => setChoosing(true)}>Signals…</button>
          <button type="button" title="Put sliders of parameters beside this scope" onClick={() => setPinning(true)}>Sliders…</button>
          <ClaimButton title={title} signals={runs.path.startsWith("loop:") ? [] : scope.signals} />
          <button type="button" title="Save the picture as PNG" onClick={() => void save("savePng")}>PNG</button>
          <button type="button" title="Save the picture as SVG" onClick={() => void save("saveSvg")}>SVG</button>
          <button type="button" aria-label={`Remove the scope ${title}`} title="Remove the scope"
            onClick={() => runs.patch({ scopes: withoutScope(runs.state.scopes, scope.id) })}>×</button>
        </span>
      </figcaption>
      <div className="scope-plot" ref={host} tabIndex={0} role="img" aria-label={`${title} over time`} />
      <output className="scope-hover" ref={hover} aria-live="off" />
      <Legend runs={runs} scope={scope} />
      <Suspense>{(pinned || pinning) && <ScopeSliders runs={runs} title={title} choosing={pinning} onClose={() => setPinning(false)} />}</Suspense>
      <Suspense>{choosing && <SignalDialog runs={runs} scope={scope} onClose={() => setChoosing(false)} />}</Suspense>
    </figure>
  );
}

/** Begins a claim about one of the signals. */
function ClaimButton({ title, signals }: { title: string; signals: readonly string[] }) {
  const claim = (signal: string): void => {
    patch({ claiming: signal });
    void showPanel("tests");
  };
  const about = "Claim what a signal must show";
  if (signals.length < 2) {
    return <button type="button" disabled={!signals.length} title={about} onClick={() => claim(signals[0]!)}>Claim…</button>;
  }
  return (
    <select aria-label={`Claim about a signal of ${title}`} title={about} value="" onChange={({ target }) => claim(target.value)}>
      <option value="" disabled>Claim…</option>
      {signals.map((signal) => <option key={signal}>{signal}</option>)}
    </select>
  );
}

/** The lines that are drawn; the same object until others are. */
function useLines(runs: Runs, scope: ScopeOf): Line[] {
  const shown = useRunsState(runs, (state) => state.shown);
  const overlaid = useRunsState(runs, (state) => state.overlaid);
  const known = useRunsState(runs, () => runs.together.map(({ run }) => `${run.label} ${run.signals.length}`).join());
  return useMemo(() => linesOf(scope, runs.together), [scope, runs, shown, overlaid, known]);
}

interface Elements {
  host: React.RefObject<HTMLDivElement | null>;
  figure: React.RefObject<HTMLElement | null>;
  hover: React.RefObject<HTMLOutputElement | null>;
}

/** The plot of some lines, drawn with each frame in which anything has changed. */
function usePlot(runs: Runs, lines: Line[], { host, figure, hover }: Elements): React.RefObject<Plot | null> {
  const made = useRef<Plot | null>(null);
  const dark = useDark();
  useEffect(() => {
    const element = host.current!;
    const { timeline } = runs;
    let before = { time: 0, atEnd: true };
    const asked = {
      seek: (time: number) => {
        before = { time: timeline.time, atEnd: timeline.atEnd };
        timeline.goTo(time);
      },
      mark: (time: number) => runs.patch({ mark: time }),
      zoom: (view: readonly [number, number]) => runs.patch({ looking: { how: "part", view } }),
      reset: () => {
        if (before.atEnd) timeline.goAlong();
        else timeline.goTo(before.time);
        runs.patch({ looking: { how: "whole" } });
      },
      hover: (time: number | null, value: number) => {
        if (hover.current) setText(hover.current, time === null ? "" : `${valueText(time)} s, ${valueText(value)}`);
      },
    };
    const plot = new Plot(element, lines, asked, unitsOf(lines.map(({ unit }) => unit)));
    made.current = plot;
    let last = -Infinity;
    const draw = (now: number): void => {
      plot.draw(runs.view);
      plot.point(timeline.time, runs.state.mark);
      if (now - last < VALUES_EVERY) atNextFrame(draw);
      else if (figure.current) {
        last = now;
        showValues(figure.current, lines, timeline.time, runs.state.mark);
      }
    };
    const soon = (): void => atNextFrame(draw);
    const resized = (): void => {
      plot.resize(element.clientWidth, element.clientHeight);
      soon();
    };
    const ends = [hearSize(element, resized), runs.hear(soon), runs.hearRows(soon), timeline.hear(soon)];
    soon();
    return () => {
      ends.forEach((end) => end());
      notAtNextFrame(draw);
      plot.destroy();
      made.current = null;
    };
  }, [runs, lines, dark, host, figure, hover]);
  return made;
}

/** Put the values at a time into the legend, and how far they are from those at another, without
 * React. */
function showValues(figure: HTMLElement, lines: readonly Line[], time: number, mark: number | null): void {
  const outputs = new Map([...figure.querySelectorAll<HTMLElement>("[data-line]")].map((one) => [one.dataset["line"], one]));
  for (const { key, order, record, signal, component } of lines) {
    const output = order === 0 && outputs.get(key);
    if (!output) continue;
    const at = (when: number): number => record.at(signal, when)[component] ?? NaN;
    setText(output, valueText(at(time)) + (mark === null ? "" : ` Δ ${valueText(at(time) - at(mark))}`));
  }
}

function Legend({ runs, scope }: { runs: Runs; scope: ScopeOf }) {
  const known = useRunsState(runs, () => runs.run?.signals);
  const overlaid = useRunsState(runs, (state) => state.overlaid);
  const { run } = runs;
  const parts = useMemo(() => (run ? scope.signals.flatMap((name) => partsOf(run, name)) : []), [run, known, scope]);
  const single = scope.signals.length === 1;
  const mixed = new Set(parts.map(({ unit }) => unit)).size > 1;
  return (
    <ul className="legend">
      {parts.map(({ key, label, short, unit }, index) => (
        <li key={key}>
          <button type="button" aria-pressed={!scope.hidden.includes(key)} title="Draw this line, or not"
            onClick={() => runs.patch({ scopes: toggleLine(runs.state.scopes, scope.id, key) })}>
            <Sample line={index} run={0} />
            <span title={label}>{single ? short : label}</span> <output data-line={key} aria-live="off" /> {mixed && unit}
          </button>
        </li>
      ))}
      {runs.together.slice(1).map(({ run: earlier }, index) => (
        <li key={`run ${earlier.run}`} className="legend-run">
          <Sample line={null} run={index + 1} /> {earlier.label}
        </li>
      ))}
      {scope.signals.length === 0 && (
        <li>
          <span className="legend-run">Choose what it shows: Signals…</span>
        </li>
      )}
      {overlaid.length === 0 ? null : <li className="unseen">Runs laid over are dashed</li>}
    </ul>
  );
}

/** A piece of a line as the plot has it: of a signal, or of an earlier run. */
function Sample({ line, run }: { line: number | null; run: number }) {
  const { colour, sign, dash } = styleOf(line ?? 0, run);
  const ink = line === null ? "currentColor" : colour;
  return (
    <svg className="sample" viewBox="0 0 24 12" aria-hidden="true">
      <path d="M0 6h24" fill="none" stroke={ink} strokeWidth="1.6" strokeDasharray={dash.join(" ") || undefined} />
      {line !== null && <path d={signPath(sign, 12, 6, 3.6)} fill={ink} />}
    </svg>
  );
}
