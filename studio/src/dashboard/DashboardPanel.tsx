// Widgets in a grid: they show signals at the time of the page, and set parameters of the run. They
// are kept for the file, in the user's cache.

import { type CSSProperties, type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";

import { Icon } from "../app/Icon";
import { keep } from "../panels/kept";
import { useRun, useRunsState } from "../run/book";
import { keep as keepTuned } from "../run/requests";
import type { Runs } from "../run/runs";
import { hearSize } from "../run/sizes";
import { TunedNote } from "../run/TunePanel";
import { useStudio } from "../store";
import "./dashboard.css";
import { liveOf } from "./live";
import { SpectrumPlot, XyPlot } from "./plots";
import { Display, Gauge, Lamp, Table } from "./sinks";
import { Source } from "./sources";
import { WidgetDialog } from "./WidgetDialog";
import { isSource, moved, movedTo, newWidget, readWidgets, sized, titleOf, type Widget, withWidget, without } from "./widgets";

const SHOWS = { display: Display, table: Table, gauge: Gauge, lamp: Lamp, xy: XyPlot, spectrum: SpectrumPlot };

const [CELL, ROW, GAP] = [92, 40, 8]; // pixels

function set(widgets: readonly Widget[]): void {
  keep({ dashboard: widgets });
}

export function DashboardPanel({ runs }: { runs: Runs }) {
  const kept = useStudio((state) => state.kept["dashboard"]);
  const widgets = useMemo(() => readWidgets(kept), [kept]);
  const [editing, setEditing] = useState<Widget | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const columns = useColumns(grid);
  const run = useRun(runs);
  useSignals(runs, widgets);
  const done = (widget: Widget | null): void => {
    if (widget) set(withWidget(widgets, widget));
    setEditing(null);
  };
  return (
    <div className="dashboard">
      <div className="panel-tools" role="toolbar" aria-label="Dashboard">
        <button type="button" onClick={() => setEditing(newWidget("display"))}>Add…</button>
        <Keep runs={runs} />
        {run && widgets.some(({ kind }) => isSource(kind)) && <TunedNote run={run} />}
        {widgets.length === 0 && <span className="note">Displays, gauges, lamps, tables, XY plots and spectra show signals; sliders, knobs, switches and buttons set parameters while the diagram runs.</span>}
      </div>
      <div className="widgets" ref={grid}>
        {widgets.map((widget) => <Frame key={widget.id} runs={runs} widget={widget} widgets={widgets} columns={columns} onEdit={() => setEditing(widget)} />)}
      </div>
      {editing && <WidgetDialog runs={runs} widget={editing} onDone={done} />}
    </div>
  );
}

/** Write what was set into the file. */
function Keep({ runs }: { runs: Runs }) {
  const carried = useRunsState(runs, () => runs.run?.carried);
  if (runs.path.startsWith("loop:") || !carried || Object.keys(carried).length === 0) return null;
  return <button type="button" title="Write the changed values into the file" onClick={() => void keepTuned()}>Keep in the file</button>;
}

/** Let the records have the signals that are shown. */
function useSignals(runs: Runs, widgets: readonly Widget[]): void {
  const known = useRunsState(runs, () => runs.run?.signals);
  const names = useMemo(() => {
    const live = liveOf(runs);
    const all = widgets.filter(({ kind }) => !isSource(kind)).flatMap(({ of }) => of);
    return [...new Set(all.flatMap((name) => live.elementOf(name)?.signal ?? []))].sort().join("\n");
  }, [runs, widgets, known]);
  useEffect(() => {
    runs.patch({ others: names ? names.split("\n") : [] });
    return () => runs.patch({ others: [] });
  }, [runs, names]);
}

/** How many cells are side by side. */
function useColumns(grid: React.RefObject<HTMLDivElement | null>): number {
  const [columns, setColumns] = useState(6);
  useEffect(() => {
    const element = grid.current!;
    return hearSize(element, () => element.clientWidth > 0 && setColumns(Math.max(1, Math.floor((element.clientWidth + GAP) / (CELL + GAP)))));
  }, [grid]);
  return columns;
}

interface FrameProps {
  runs: Runs;
  widget: Widget;
  widgets: readonly Widget[];
  columns: number;
  onEdit: () => void;
}

const STEPS: Record<string, readonly [x: number, y: number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function Frame({ runs, widget, widgets, columns, onEdit }: FrameProps) {
  const { id, kind, wide, high } = widget;
  const name = titleOf(widget);
  const from = useRef<{ x: number; y: number; wide: number; high: number } | null>(null);
  const remove = (): void => set(without(widgets, id));
  const press = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Delete") remove();
    else if (step && event.shiftKey) set(withWidget(widgets, sized(widget, wide + step[0], high + step[1])));
    else if (step) set(moved(widgets, id, step[0] + step[1]));
    else return;
    event.preventDefault();
    const { currentTarget } = event;
    setTimeout(() => (currentTarget as HTMLElement).focus()); // its element has moved
  };
  const drag = useDrag(id, widgets);
  const resize = (event: PointerEvent): void => {
    const start = from.current;
    if (!start) return;
    const next = sized(widget, start.wide + (event.clientX - start.x) / (CELL + GAP), start.high + (event.clientY - start.y) / (ROW + GAP));
    if (next.wide !== wide || next.high !== high) set(withWidget(widgets, next));
  };
  const Shows = kind in SHOWS ? SHOWS[kind as keyof typeof SHOWS] : null;
  const style: CSSProperties = { gridColumn: `span ${Math.min(wide, columns)}`, gridRow: `span ${high}` };
  return (
    <div className={`widget widget-of-${kind}`} role="group" aria-label={name} style={style} data-widget={id}>
      <header>
        <button type="button" className="widget-handle" title="Drag, or arrows: move; with Shift: size; Enter: change; Del: remove" aria-label={`${name}: move, size, change`}
          onKeyDown={press} onClick={(event) => event.detail === 0 && onEdit()} onDoubleClick={onEdit} {...drag}>
          {name}
        </button>
        <button type="button" aria-label={`Change ${name}`} title="Change" onClick={onEdit}><Icon name="rename" /></button>
        <button type="button" aria-label={`Remove ${name}`} title="Remove" onClick={remove}><Icon name="close" /></button>
      </header>
      <div className="widget-body">
        {Shows ? <Shows live={liveOf(runs)} widget={widget} /> : <Source runs={runs} widget={widget} />}
      </div>
      <i className="widget-corner" aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = { x: event.clientX, y: event.clientY, wide, high };
        }}
        onPointerMove={resize} onPointerUp={() => (from.current = null)} onPointerCancel={() => (from.current = null)} />
    </div>
  );
}

const FAR = 5; // pixels, from which on it is a drag

/** Dragging a widget before or after another one. */
function useDrag(id: number, widgets: readonly Widget[]) {
  const from = useRef<[x: number, y: number] | null>(null);
  const target = useRef<{ element: Element; after: boolean } | null>(null);
  const mark = (next: typeof target.current): void => {
    target.current?.element.classList.remove("before", "after");
    next?.element.classList.add(next.after ? "after" : "before");
    target.current = next;
  };
  const end = (event: PointerEvent<HTMLElement>, drop: boolean): void => {
    const found = target.current;
    mark(null);
    from.current = null;
    event.currentTarget.closest(".widget")?.classList.remove("dragged");
    if (drop && found) set(movedTo(widgets, id, Number((found.element as HTMLElement).dataset["widget"]), found.after));
  };
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button === 0) from.current = [event.clientX, event.clientY];
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const { clientX, clientY, currentTarget } = event;
      if (!from.current || Math.hypot(clientX - from.current[0], clientY - from.current[1]) < FAR) return;
      currentTarget.setPointerCapture(event.pointerId);
      const own = currentTarget.closest(".widget")!;
      own.classList.add("dragged");
      const under = currentTarget.ownerDocument.elementsFromPoint(clientX, clientY).map((one) => one.closest(".widget"));
      const element = under.find((one) => one !== null && one !== own) ?? null;
      const box = element?.getBoundingClientRect();
      mark(element && { element, after: clientX > box!.left + box!.width / 2 });
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => end(event, true),
    onPointerCancel: (event: PointerEvent<HTMLElement>) => end(event, false),
  };
}
