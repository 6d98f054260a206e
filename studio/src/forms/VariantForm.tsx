// The choices of a slot of variants: shown, added, renamed, removed; and a slot made of a block.

import { type FormEvent, useState } from "react";

import { choose, edit } from "../actions";
import { Tool } from "../app/Header";
import { freeName, nameOfType } from "../canvas/names";
import type { Slot } from "../protocol";
import { now, patch, useStudio } from "../store";
import { NewName } from "./CommittedInput";
import { NAME, NAME_RULE } from "./FileForm";

/** Make a slot of a block; its only choice is what it has been. */
export async function makeSlot(block: string, choice: string): Promise<void> {
  if (await edit({ op: "vary", name: block, choice })) patch({ said: `${block} has variants now: add another choice`, selection: [block] });
}

/** What the choice of a new slot is called: as the block's type, or the file that it uses. */
export function firstChoice(type: string): string {
  return nameOfType(type.replace(/^.*[/]/, "").replace(/[.]ya?ml$/, ""));
}

/** The form of the choices of a slot, or of a block that can become one. */
export default function VariantForm({ name, type }: { name: string; type: string }) {
  const slot = useStudio(({ opened }) => opened?.variants.find((one) => one.slot === name));
  return slot ? <Choices slot={slot} /> : <Vary name={name} type={type} />;
}

function Vary({ name, type }: { name: string; type: string }) {
  const [choice, setChoice] = useState(() => firstChoice(type));
  return (
    <details className="about">
      <summary>Variants</summary>
      <form className="new-parameter" onSubmit={(event) => { event.preventDefault(); void makeSlot(name, choice.trim()); }}>
        <input aria-label="Name of what this block is now" value={choice} required pattern={NAME} title={NAME_RULE} spellCheck={false}
          onChange={(event) => setChoice(event.target.value)} />
        <button type="submit">Make variants of it</button>
      </form>
    </details>
  );
}

function Choices({ slot }: { slot: Slot }) {
  const { slot: name, choices, chosen } = slot;
  return (
    <fieldset className="variants">
      <legend>Variants</legend>
      <ul>{choices.map((choice) => <li key={choice}><Choice slot={slot} choice={choice} /></li>)}</ul>
      <NewChoice slot={slot} />
      <button type="button" onClick={() => void edit({ op: "fix", slot: name, choice: chosen })}>{`Only ${chosen}: make a block of it again`}</button>
    </fieldset>
  );
}

function Choice({ slot: { slot, chosen, default: first, choices }, choice }: { slot: Slot; choice: string }) {
  const [naming, setNaming] = useState(false);
  const rename = async (to: string | null): Promise<void> => {
    setNaming(false);
    if (to && to !== choice) await edit({ op: "rename-choice", slot, choice, to });
  };
  return (
    <div className="field-row">
      {naming ? (
        <NewName name={choice} onDone={rename} />
      ) : (
        <label className="choice">
          <input type="radio" name={`choice of ${slot}`} checked={choice === chosen} onChange={() => void choose(slot, choice)} />
          <span>{choice}</span>{choice === first && <span className="unit">the default</span>}
        </label>
      )}
      {choice !== first && <button type="button" className="unset" aria-label={`Make ${choice} the default`}
        onClick={() => void edit({ op: "set", path: `variants.${slot}.default`, text: choice })}>default</button>}
      <Tool icon="rename" name={`Rename ${choice}`} onClick={() => setNaming(true)} />
      <Tool icon="close" name={`Remove ${choice}`} disabled={choices.length === 1} onClick={() => void edit({ op: "remove-choice", slot, choice })} />
    </div>
  );
}

/** A choice to add: like the present one, of a subsystem, or of another type. */
function NewChoice({ slot: { slot, choices, chosen } }: { slot: Slot }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState("");
  const subsystems = useStudio((state) => state.opened?.subsystems) ?? [];
  const types = useStudio((state) => state.types);
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const choice = name.trim() || freeName(kind ? firstChoice(kind) : chosen, choices);
    const made = kind ? { type: kind } : { like: chosen };
    if (!(await edit({ op: "add-choice", slot, choice, ...made }))) return;
    setName("");
    if (now().opened?.variants.find((one) => one.slot === slot)?.choices.includes(choice)) await choose(slot, choice);
  };
  return (
    <form className="new-choice" onSubmit={(event) => void add(event)}>
      <select aria-label="What the new choice is" value={kind} onChange={(event) => setKind(event.target.value)}>
        <option value="">{`a copy of ${chosen}`}</option>
        {subsystems.length > 0 && <optgroup label="Subsystems">{subsystems.map((one) => <option key={one}>{one}</option>)}</optgroup>}
        <optgroup label="Types">{types.map((one) => <option key={one.name}>{one.name}</option>)}</optgroup>
      </select>
      <div className="new-parameter">
        <input aria-label="Name of a new choice" placeholder="name" value={name} pattern={NAME} title={NAME_RULE} spellCheck={false} onChange={(event) => setName(event.target.value)} />
        <button type="submit">Add a choice</button>
      </div>
    </form>
  );
}
