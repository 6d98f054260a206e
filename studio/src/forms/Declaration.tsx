// What the file declares of one of its parameters: unit, bounds and meaning.

import { type FormEvent, useState } from "react";

import { edit } from "../actions";
import type { Field, Operation } from "../protocol";
import { toYaml } from "./yaml";

const ENTRIES = [["unit", "unit"], ["min", "least"], ["max", "largest"], ["doc", "meaning"]] as const;
type Entry = (typeof ENTRIES)[number][0];

export function Declaration({ field, onClose }: { field: Field; onClose: () => void }) {
  const first = writtenIn(field);
  const [typed, setTyped] = useState(first);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const operations = operationsFor(field.name, first, typed);
    if (operations.length === 0 || (await edit(...operations))) onClose();
  };
  return (
    <form className="declaration" aria-label={`About ${field.name}`} onSubmit={(event) => void save(event)} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      {ENTRIES.map(([entry, label], k) => (
        <label key={entry}>
          <span>{label}</span>
          <input autoFocus={k === 0} value={typed[entry]} inputMode={entry === "min" || entry === "max" ? "decimal" : undefined} spellCheck={false}
            autoComplete="off" onChange={({ target }) => setTyped({ ...typed, [entry]: target.value })} />
        </label>
      ))}
      <div className="row">
        <button type="submit">Keep</button>
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </form>
  );
}

function writtenIn({ unit, doc, min, max }: Field): Record<Entry, string> {
  return { unit, doc, min: min == null ? "" : String(min), max: max == null ? "" : String(max) };
}

/** The edits that make of one declaration another; one with nothing in it is taken out. */
export function operationsFor(name: string, first: Record<Entry, string>, typed: Record<Entry, string>): Operation[] {
  const changed = ENTRIES.map(([entry]) => entry).filter((entry) => typed[entry].trim() !== first[entry]);
  if (changed.length === 0) return [];
  const isEmpty = ENTRIES.every(([entry]) => typed[entry].trim() === "");
  if (isEmpty) return [{ op: "unset", path: `declare.${name}` }];
  return changed.map((entry): Operation => {
    const text = typed[entry].trim();
    const path = `declare.${name}.${entry}`;
    if (text === "") return { op: "unset", path };
    return { op: "set", path, text: entry === "unit" || entry === "doc" ? toYaml(text) : text };
  });
}
