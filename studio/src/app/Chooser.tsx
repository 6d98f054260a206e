// A list that narrows while one types: blocks to add, things to find, ports to wire.

import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";

import { matching } from "../canvas/filter";

export interface Choice<T> {
  key: string;
  thing: T;
  name: string;
  note?: ReactNode;
  /** What is searched besides the name. */
  words?: readonly string[];
  /** Why it cannot be chosen. */
  reason?: string;
}

interface Props<T> {
  label: string;
  choices: readonly Choice<T>[];
  onChoose: (thing: T) => void;
  empty?: string;
}

const MOST_SHOWN = 80;

/** Of what was found the best, what cannot be chosen below the rest. */
function possibleFirst<T>(found: readonly Choice<T>[]): Choice<T>[] {
  const impossible = found.filter(({ reason }) => reason);
  return [...found.filter(({ reason }) => !reason), ...impossible].slice(0, MOST_SHOWN);
}

export function Chooser<T>({ label, choices, onChoose, empty = "Nothing has this in its name." }: Props<T>) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = useMemo(() => possibleFirst(matching(typed, choices, ({ name, words = [] }) => [name, ...words])), [typed, choices]);
  const present = Math.min(active, found.length - 1);
  useEffect(() => {
    list.current?.children[present]?.scrollIntoView({ block: "nearest" });
  }, [present]);
  const choose = (choice: Choice<T> | undefined): void => {
    if (choice && !choice.reason) onChoose(choice.thing);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    if (step !== undefined) setActive(Math.max(0, Math.min(found.length - 1, present + step)));
    else if (event.key === "Enter") choose(found[present]);
    else return;
    event.preventDefault();
  };
  return (
    <div className="chooser">
      <input role="combobox" aria-label={label} placeholder={label} aria-expanded aria-controls={id} autoFocus
        aria-activedescendant={found[present] && `${id}-${present}`} aria-autocomplete="list" autoComplete="off" spellCheck={false}
        value={typed} onKeyDown={onKeyDown}
        onChange={(event) => { setTyped(event.target.value); setActive(0); }} />
      <ul role="listbox" id={id} ref={list} aria-label={label}>
        {found.map((choice, k) => (
          <li key={choice.key} role="option" id={`${id}-${k}`} aria-selected={k === present} aria-disabled={!!choice.reason}
            onPointerMove={() => setActive(k)} onClick={() => choose(choice)}>
            <span className="choice-name">{choice.name}</span>
            <span className="choice-note">{choice.reason ?? choice.note}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="choice-none" role="status">{empty}</p>}
    </div>
  );
}
