// Parameters to change while the run goes on; what is changed is marked, and can be kept or undone.

import { useState } from "react";

import type { Run, Tunable } from "../protocol";
import { found } from "../scopes/edit";
import { useRun, useRunsState } from "./book";
import { type Bounds, listOf, numberOf, rangeOf, withElement } from "./ranges";
import { keep } from "./requests";
import { isOver, type Runs } from "./runs";
import { change, useTunables, useTuned } from "./tuning";

const MOST = 100;

export function TunePanel({ runs }: { runs: Runs }) {
  const all = useTunables(runs);
  const run = useRun(runs);
  const tuned = useRunsState(runs, () => runs.run?.tuned ?? NONE);
  const [search, setSearch] = useState("");
  if (!run) return <p className="panel-empty">Run the diagram to change its parameters while it goes on.</p>;
  const some = found(all, search);
  const changed = all.filter(({ name, first }) => (tuned[name] ?? first) !== first);
  const isFile = !runs.path.startsWith("loop:");
  return (
    <div className="panel-page tune">
      <div className="panel-tools">
        <input type="search" aria-label="Search parameters" placeholder="Search parameters" value={search}
          onChange={({ target }) => setSearch(target.value)} />
        <span className="note">{changed.length ? `${changed.length} changed` : "none changed"}</span>
        <button type="button" disabled={!changed.length} onClick={() => changed.forEach(({ name, first }) => change(runs, name, first))}>Reset all</button>
        {isFile && <button type="button" disabled={Object.keys(run.carried).length === 0} title="Write the changed values into the file" onClick={() => void keep()}>Keep in the file</button>}
        {isFile && <TunedNote run={run} />}
      </div>
      <table>
        <tbody>
          {some.slice(0, MOST).map((one) => <Row key={one.name} runs={runs} tunable={one} />)}
        </tbody>
      </table>
      {some.length > MOST && <p className="note">{`The first ${MOST} of ${some.length}: search for others.`}</p>}
      {all.length === 0 && <p className="note">Nothing in this diagram can be tuned.</p>}
    </div>
  );
}

/** From when on what is tuned counts. */
export function TunedNote({ run }: { run: Run }) {
  if (isOver(run)) return <span className="note">The run has ended: what is tuned now holds from the next one on.</span>;
  return Object.keys(run.carried).length ? <span className="note">The next run begins with these values, too.</span> : null;
}

const NONE: Readonly<Record<string, string>> = {};

function Row({ runs, tunable }: { runs: Runs; tunable: Tunable }) {
  const { name, first, unit, doc, used } = tunable;
  const [text, set] = useTuned(runs, tunable);
  const changed = text !== first;
  return (
    <tr className={changed ? "changed" : ""}>
      <th scope="row" title={doc}>
        {changed && <span className="changed-mark" title="changed">● </span>}
        {name}
        {used.length > 0 && <span className="note" title={used.join(", ")}>{`, used by ${usersOf(used)}`}</span>}
      </th>
      <td><Value name={name} first={first} text={text} set={set} bounds={tunable} /></td>
      <td className="note">{unit}</td>
      <td>{changed && <button type="button" aria-label={`Reset ${name}`} onClick={() => set(first)}>{`Reset to ${first}`}</button>}</td>
    </tr>
  );
}

const MOST_USERS = 3;

function usersOf(used: readonly string[]): string {
  const more = used.length - MOST_USERS;
  return [...used.slice(0, MOST_USERS), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

export interface ValueProps {
  name: string;
  first: string;
  text: string;
  set: (text: string) => void;
  bounds?: Bounds | undefined;
}

/** A slider and a field for each number; a field alone for anything else. */
export function Value({ name, first, text, set, bounds }: ValueProps) {
  const [firsts, list] = [listOf(first), listOf(text)];
  if (!firsts || !list || firsts.length !== list.length) return <Single name={name} first={first} text={text} set={set} bounds={bounds} />;
  return list.map((element, index) => (
    <Single key={index} name={`${name}[${index}]`} first={String(firsts[index])} text={String(element)} bounds={bounds}
      set={(next) => Number.isFinite(numberOf(next)) && set(withElement(text, index, next))} />
  ));
}

function Single({ name, first, text, set, bounds }: ValueProps) {
  const [start, value] = [numberOf(first), numberOf(text)];
  if (Number.isNaN(start)) return <Text name={name} text={text} set={set} />;
  const range = rangeOf(start, value, bounds);
  return (
    <span className="tune-value">
      <input type="range" aria-label={`${name}, slider`} {...range} step="any" value={Number.isNaN(value) ? start : value}
        onKeyDown={(event) => {
          const way = event.key === "ArrowRight" || event.key === "ArrowUp" ? 1 : event.key === "ArrowLeft" || event.key === "ArrowDown" ? -1 : 0;
          if (way === 0) return;
          event.preventDefault();
          set(String(short(value + way * (range.max - range.min) * 0.01)));
        }}
        onChange={({ target }) => set(String(short(target.valueAsNumber)))} />
      <Text name={name} text={text} set={set} />
    </span>
  );
}

export function short(value: number): number {
  return Number(value.toPrecision(4));
}

/** A text that counts when it is finished: by Enter, or when the field is left. */
export function Text({ name, text, set }: Omit<ValueProps, "first" | "bounds">) {
  const [typing, setTyping] = useState<string | null>(null);
  const finish = (): void => {
    if (typing !== null && typing.trim() && typing !== text) set(typing.trim());
    setTyping(null);
  };
  return (
    <input className="number" aria-label={name} value={typing ?? text} onChange={({ target }) => setTyping(target.value)} onBlur={finish}
      onKeyDown={({ key }) => {
        if (key === "Enter") finish();
        if (key === "Escape") setTyping(null);
      }} />
  );
}
