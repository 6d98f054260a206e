// What a widget is and what it is bound to.

import { useEffect, useMemo, useRef, useState } from "react";

import type { Signal } from "../protocol";
import { useRun } from "../run/book";
import { listOf } from "../run/ranges";
import type { Runs } from "../run/runs";
import { useTunables } from "../run/tuning";
import { partsOf, sizeOf } from "../scopes/lines";
import { type Item, PickList } from "../scopes/PickList";
import { itemsOf } from "../scopes/SignalDialog";
import { asKind, isSource, type Kind, KINDS, SINKS, SOURCES, titleOf, type Widget, withName } from "./widgets";

const MOST_ELEMENTS = 64;
const NUMBERS = { least: ["from", "by itself"], most: ["to", "by itself"], level: ["lit from", "0.5"], seconds: ["of the last seconds", "all"] } as const;

interface Props {
  runs: Runs;
  widget: Widget;
  onDone: (widget: Widget | null) => void;
}

export function WidgetDialog({ runs, widget, onDone }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [draft, setDraft] = useState(widget);
  const items = useItems(runs, draft.kind);
  useEffect(() => dialog.current!.showModal(), []);
  const { options, most } = KINDS[draft.kind];
  const done = (): void => onDone(draft.of.length ? draft : null);
  return (
    <dialog ref={dialog} className="signals widget-dialog" aria-label={widget.id ? `Widget ${titleOf(widget)}` : "New widget"}
      onCancel={(event) => {
        event.preventDefault();
        onDone(null);
      }}>
      <div className="row">
        <label>Kind{" "}
          <select value={draft.kind} onChange={({ target }) => setDraft(asKind(draft, target.value as Kind))}>
            <optgroup label="shows signals">{SINKS.map((kind) => <option key={kind} value={kind}>{KINDS[kind].name}</option>)}</optgroup>
            <optgroup label="sets a parameter">{SOURCES.map((kind) => <option key={kind} value={kind}>{KINDS[kind].name}</option>)}</optgroup>
          </select>
        </label>
        <label>Title{" "}<input value={draft.title} placeholder={titleOf({ ...draft, title: "" })} onChange={({ target }) => setDraft({ ...draft, title: target.value.slice(0, 200) })} /></label>
        {options.map((option) => {
          if (option === "decibels") {
            return (
              <label key={option}>
                <input type="checkbox" checked={draft.decibels ?? false} onChange={({ target }) => setDraft({ ...draft, decibels: target.checked })} /> in dB
              </label>
            );
          }
          if (option === "on" || option === "off") {
            return (
              <label key={option}>{option}{" "}
                <input className="number" value={draft[option] ?? ""} placeholder={option === "on" ? "1" : "0"}
                  onChange={({ target }) => setDraft({ ...draft, [option]: target.value || undefined })} />
              </label>
            );
          }
          return (
            <label key={option}>{NUMBERS[option][0]}{" "}
              <input className="number" type="number" step="any" placeholder={NUMBERS[option][1]} defaultValue={draft[option] ?? ""}
                onChange={({ target }) => setDraft({ ...draft, [option]: Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber })} />
            </label>
          );
        })}
      </div>
      {items.length > 0
        ? <PickList key={isSource(draft.kind) ? "parameters" : "signals"} what={isSource(draft.kind) ? "parameters" : "signals"} items={items} chosen={draft.of}
            onToggle={(name) => setDraft(withName(draft, name))} />
        : <p className="note">{isSource(draft.kind) ? "Run the diagram: then its parameters are listed." : "Run the diagram: then its signals are listed."}</p>}
      {draft.of.length > 0 && <p className="widget-chosen">{draft.kind === "xy" ? `x: ${draft.of[0]}${draft.of[1] ? `, y: ${draft.of[1]}` : "; choose y"}` : draft.of.join(", ")}</p>}
      <div className="buttons row">
        <button type="button" className="primary" disabled={draft.of.length < (draft.kind === "xy" ? most : 1)} onClick={done}>{widget.id ? "Done" : "Add"}</button>
        {draft.kind === "xy" && draft.of.length === 2 && <button type="button" onClick={() => setDraft({ ...draft, of: [...draft.of].reverse() })}>Swap x and y</button>}
        <button type="button" onClick={() => onDone(null)}>Cancel</button>
      </div>
    </dialog>
  );
}

/** What a widget of a kind can be bound to: signals or parameters, and their numbers. */
function useItems(runs: Runs, kind: Kind): Item[] {
  const run = useRun(runs);
  const tunables = useTunables(runs);
  return useMemo(() => {
    if (isSource(kind)) {
      return tunables.flatMap(({ name, first, unit, used }): Item[] => {
        const list = listOf(first);
        if (!list) return [{ name, used, about: [first, unit].filter(Boolean).join(" ") }];
        return list.map((number, k) => ({ name: `${name}[${k}]`, used, about: [number, unit].filter((one) => one !== "").join(" ") }));
      });
    }
    if (!run) return [];
    const whole = kind === "display" || kind === "table";
    return run.signals.flatMap((signal: Signal): Item[] => {
      const [item] = itemsOf([signal]);
      const count = sizeOf(signal);
      if (count === 1) return [item!];
      const parts = count <= MOST_ELEMENTS ? partsOf(run, signal.name) : [];
      const elements = parts.map(({ key, short, unit }) => ({ name: key, about: [short, unit && `[${unit}]`].filter(Boolean).join(" ") }));
      return whole ? [item!, ...elements] : elements;
    });
  }, [run?.signals, tunables, kind]);
}
