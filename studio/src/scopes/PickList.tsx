// A list to search in, in which several entries can be chosen: signals, parameters.

import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";

import { found } from "./edit";

const MOST = 200;

export interface Item {
  name: string;
  about: string;
  /** What is searched besides. */
  used?: readonly string[];
}

interface Props {
  /** What is searched: "signals". */
  what: string;
  items: readonly Item[];
  chosen: readonly string[];
  onToggle: (name: string) => void;
}

export function PickList({ what, items, chosen, onToggle }: Props) {
  const id = useId();
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const all = useMemo(() => found(items, search), [items, search]);
  const some = all.slice(0, MOST);
  const press = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, some.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter") some[at] && onToggle(some[at].name);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input role="combobox" aria-expanded="true" aria-controls={id} aria-activedescendant={some[at] ? `${id}-${at}` : undefined}
        aria-label={`Search ${what}`} placeholder={`Search ${what}`} value={search} autoFocus onKeyDown={press}
        onChange={({ target }) => {
          setSearch(target.value);
          setAt(0);
        }} />
      <ul id={id} role="listbox" aria-multiselectable="true" aria-label={what} className="pick-list">
        {some.map(({ name, about }, index) => (
          <li key={name} id={`${id}-${index}`} role="option" aria-selected={chosen.includes(name)}
            className={index === at ? "at" : ""} ref={index === at ? scrollTo : undefined} onClick={() => onToggle(name)}>
            <span className="tick" aria-hidden="true">{chosen.includes(name) ? "✓" : ""}</span>
            <span>{name}</span>
            <span className="signal-about">{about}</span>
          </li>
        ))}
      </ul>
      <p className="signals-count">
        {all.length > MOST ? `The first ${MOST} of ${all.length}: type more to find others. ` : ""}
        {all.length === 0 ? "Nothing has this in its name." : "Enter adds or removes, Escape closes."}
      </p>
    </>
  );
}

/** A window with a list, closed by Escape. */
export function PickDialog({ name, onClose, ...list }: Props & { name: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} className="signals" aria-label={name} onClose={onClose}>
      <PickList {...list} />
      <button type="button" onClick={() => dialog.current!.close()}>Done</button>
    </dialog>
  );
}

function scrollTo(item: HTMLLIElement | null): void {
  item?.scrollIntoView({ block: "nearest" });
}
