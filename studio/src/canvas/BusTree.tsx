// The signals of a bus as a tree, with their shapes and units.

import type { BusSignal } from "../protocol";

const MOST = 40;

export function BusTree({ signals }: { signals: readonly BusSignal[] }) {
  const shown = signals.slice(0, MOST);
  return (
    <>
      <dd>a bus of {signals.length} {signals.length === 1 ? "signal" : "signals"}</dd>
      <dd><Branch signals={shown} /></dd>
      {signals.length > MOST && <dd>and {signals.length - MOST} more</dd>}
    </>
  );
}

function Branch({ signals }: { signals: readonly BusSignal[] }) {
  const groups = new Map<string, BusSignal[]>();
  for (const signal of signals) {
    const [head = ""] = signal.name.split(".");
    groups.set(head, [...(groups.get(head) ?? []), signal]);
  }
  return (
    <ul className="bus-tree">
      {[...groups].map(([head, inside]) => {
        const leaf = inside.find(({ name }) => name === head);
        return (
          <li key={head}>
            {head} {leaf && <span className="unit">{aboutSignal(leaf)}</span>}
            {!leaf && <Branch signals={inside.map((one) => ({ ...one, name: one.name.slice(head.length + 1) }))} />}
          </li>
        );
      })}
    </ul>
  );
}

export function aboutSignal({ shape, unit }: BusSignal): string {
  return [shape && `(${shape})`, unit && `[${unit}]`].filter(Boolean).join(" ");
}
