// Which signals a scope shows: a list to search in.

import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";

import type { Signal } from "../protocol";
import { useRun, useRunsState } from "../run/book";
import type { Runs } from "../run/runs";
import { found, titleOf, toggleSignal } from "./edit";
import type { ScopeOf } from "./lines";

const MOST = 200;

export function SignalDialog({ runs, scope, onClose }: { runs: Runs; scope: ScopeOf; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const run = useRun(runs);
  const shown = useRunsState(runs, (state) => state.scopes.find(({ id }) => id === scope.id)?.signals ?? NONE);
  const all = useMemo(() => found(run?.signals ?? [], search), [run?.signals, search]);
  const some = all.slice(0, MOST);
  useEffect(() => dialog.current!.showModal(), []);
  const toggle = (signal: Signal | undefined): void => {
    if (signal) runs.patch({ scopes: toggleSignal(runs.state.scopes, scope.id, signal.name) });
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, some.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter") toggle(some[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className="signals" aria-label={`Signals of ${titleOf(scope)}`} onClose={onClose}>
      <input role="combobox" aria-expanded="true" aria-controls="signal-list" aria-activedescendant={some[at] ? `signal-${at}` : undefined}
        aria-label="Search signals" placeholder="Search signals" value={search} autoFocus onKeyDown={press}
        onChange={({ target }) => {
          setSearch(target.value);
          setAt(0);
        }} />
      <ul id="signal-list" role="listbox" aria-multiselectable="true" aria-label="Signals">
        {some.map((signal, index) => (
          <li key={signal.name} id={`signal-${index}`} role="option" aria-selected={shown.includes(signal.name)}
            className={index === at ? "at" : ""} ref={index === at ? scrollTo : undefined} onClick={() => toggle(signal)}>
            <span className="tick" aria-hidden="true">{shown.includes(signal.name) ? "✓" : ""}</span>
            <span>{signal.name}</span>
            <span className="signal-about">{aboutOf(signal)}</span>
          </li>
        ))}
      </ul>
      <p className="signals-count">
        {all.length > MOST ? `The first ${MOST} of ${all.length}: type more to find others. ` : ""}
        Enter adds or removes, Escape closes.
      </p>
      <button type="button" onClick={() => dialog.current!.close()}>Done</button>
    </dialog>
  );
}

const NONE: readonly string[] = [];

function scrollTo(item: HTMLLIElement | null): void {
  item?.scrollIntoView({ block: "nearest" });
}

function aboutOf({ shape, unit, live }: Signal): string {
  const size = shape.length ? shape.join(" × ") : "";
  return [size, unit && `[${unit}]`, live ? "" : "after the run"].filter(Boolean).join(" ");
}
