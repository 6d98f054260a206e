// Widgets that set a parameter of the run: sliders, knobs, switches and buttons.

import { type KeyboardEvent, type PointerEvent, useRef } from "react";

import { valueText } from "../../../viewer/src/numbers";
import type { Tunable } from "../protocol";
import { listOf, numberOf, rangeOf, withElement } from "../run/ranges";
import type { Runs } from "../run/runs";
import { short, Text } from "../run/TunePanel";
import { useTunables, useTuned } from "../run/tuning";
import { elementOf, titleOf, type Widget } from "./widgets";

interface Props {
  runs: Runs;
  widget: Widget;
}

/** A parameter, or a number of it, as a widget has it. */
interface Bound {
  name: string;
  /** As YAML. */
  text: string;
  first: string;
  unit: string;
  set: (text: string) => void;
}

export function Source({ runs, widget }: Props) {
  const all = useTunables(runs);
  const [given = ""] = widget.of;
  const [name, component] = elementOf(given, (one) => all.some((tunable) => tunable.name === one));
  const tunable = all.find((one) => one.name === name);
  if (!given) return <p className="widget-none">It needs a parameter.</p>;
  if (!tunable) return <p className="widget-none">{all.length ? `This run has no parameter ${given}.` : `${given}: run the diagram to set it.`}</p>;
  return <Tuned runs={runs} widget={widget} tunable={tunable} component={component} />;
}

function Tuned({ runs, widget, tunable, component }: Props & { tunable: Tunable; component: number | null }) {
  const [whole, setWhole] = useTuned(runs, tunable);
  const of = (text: string): string => (component === null ? text : String(listOf(text)?.[component] ?? ""));
  const set = (text: string): void => setWhole(component === null ? text : withElement(whole, component, text));
  const bound: Bound = { name: titleOf(widget), text: of(whole), first: of(tunable.first), unit: tunable.unit, set };
  const { kind } = widget;
  if (kind === "switch") return <Switch {...bound} widget={widget} />;
  if (kind === "button") return <Button {...bound} widget={widget} />;
  if (Number.isNaN(numberOf(bound.text))) return <p className="widget-none">{`${tunable.name} is no number: choose one of its elements.`}</p>;
  return kind === "knob" ? <Knob {...bound} widget={widget} /> : <Slider {...bound} widget={widget} />;
}

function scaleOf({ least, most }: Widget, { first, text }: Bound): [number, number] {
  const { min, max } = rangeOf(numberOf(first), numberOf(text));
  const [from, to] = [least ?? min, most ?? max];
  return to > from ? [from, to] : [from, from + 1];
}

const KEYS: Record<string, number> = { ArrowRight: 0.01, ArrowUp: 0.01, ArrowLeft: -0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1 };

/** Change a number by keys. */
function press(event: KeyboardEvent, value: number, [least, most]: readonly [number, number], set: (text: string) => void): void {
  const share = KEYS[event.key];
  const next = event.key === "Home" ? least : event.key === "End" ? most : share === undefined ? null : value + share * (most - least);
  if (next === null || event.altKey || event.ctrlKey) return;
  set(String(short(Math.min(Math.max(next, least), most))));
  event.preventDefault();
}

function Slider({ widget, ...bound }: Bound & { widget: Widget }) {
  const scale = scaleOf(widget, bound);
  const value = numberOf(bound.text);
  return (
    <span className="widget-slider">
      <input type="range" aria-label={bound.name} min={scale[0]} max={scale[1]} step="any" value={value}
        onKeyDown={(event) => press(event, value, scale, bound.set)} onChange={({ target }) => bound.set(String(short(target.valueAsNumber)))} />
      <Text name={`${bound.name}, as a number`} text={bound.text} set={bound.set} />
      <span className="note">{bound.unit}</span>
    </span>
  );
}

const TURN = 150; // pixels of a drag from one end to the other

function Knob({ widget, ...bound }: Bound & { widget: Widget }) {
  const scale = scaleOf(widget, bound);
  const [least, most] = scale;
  const value = numberOf(bound.text);
  const from = useRef<[y: number, value: number] | null>(null);
  const turn = ({ clientY }: PointerEvent): void => {
    if (!from.current) return;
    const next = from.current[1] + ((from.current[0] - clientY) / TURN) * (most - least);
    bound.set(String(short(Math.min(Math.max(next, least), most))));
  };
  const angle = -135 + 270 * Math.min(Math.max((value - least) / (most - least), 0), 1);
  return (
    <div className="widget-knob">
      <svg viewBox="-30 -30 60 60" role="slider" tabIndex={0} aria-label={bound.name} aria-valuemin={least} aria-valuemax={most} aria-valuenow={value}
        aria-valuetext={`${valueText(value)} ${bound.unit}`} onKeyDown={(event) => press(event, value, scale, bound.set)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = [event.clientY, value];
        }}
        onPointerMove={turn} onPointerUp={() => (from.current = null)} onPointerCancel={() => (from.current = null)}>
        <path d="M-19.8 19.8A28 28 0 1 1 19.8 19.8" className="track" />
        <circle r="21" />
        <path d="M0 -9V-19" transform={`rotate(${angle})`} className="value" />
      </svg>
      <span className="widget-number">{valueText(value)} <span className="note">{bound.unit}</span></span>
    </div>
  );
}

/** Whether two YAML texts are the same value. */
function isSame(one: string, other: string): boolean {
  return one === other || numberOf(one) === numberOf(other);
}

function Switch({ widget, name, text, set }: Bound & { widget: Widget }) {
  const { off = "0", on = "1" } = widget;
  const lit = isSame(text, on);
  return (
    <button type="button" role="switch" className="widget-switch" aria-checked={lit} aria-label={name} onClick={() => set(lit ? off : on)}>
      <i aria-hidden="true" /> <span aria-hidden="true">{lit || isSame(text, off) ? (lit ? `on: ${on}` : `off: ${off}`) : text}</span>
    </button>
  );
}

function Button({ widget, name, text, set }: Bound & { widget: Widget }) {
  const { off = "0", on = "1" } = widget;
  const held = useRef(false);
  const hold = (): void => {
    held.current = true;
    set(on);
  };
  const release = (): void => {
    if (held.current) set(off);
    held.current = false;
  };
  const key = (event: KeyboardEvent, what: () => void): void => {
    if (event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    if (!event.repeat) what();
  };
  return (
    <button type="button" className="widget-button" aria-pressed={isSame(text, on)} aria-label={name} onPointerDown={hold} onPointerUp={release} onPointerLeave={release}
      onPointerCancel={release} onBlur={release} onKeyDown={(event) => key(event, hold)} onKeyUp={(event) => key(event, release)}>
      {isSame(text, on) ? on : `Hold for ${on}`}
    </button>
  );
}
