// The signals of a block of buses: those of a creator, and those that a selector or an assignment chooses.

import { useState } from "react";

import { edit, tried } from "../actions";
import { Tool } from "../app/Header";
import { aboutSignal } from "../canvas/BusTree";
import type { Bus, BusSignal, Operation, SheetWire } from "../protocol";
import { now, useStudio } from "../store";
import { CommittedInput } from "./CommittedInput";
import { NAME, NAME_RULE } from "./FileForm";
import { type Choice, NamesInput } from "./NamesInput";
import { useAboutBlock } from "./useForm";

export default function BusForm({ name }: { name: string }) {
  const bus = useAboutBlock("bus", name);
  const type = useStudio(({ sheet }) => sheet?.blocks.find((one) => one.name === name)?.type);
  if (!bus) return null;
  return type === "BUS_CREATOR" ? <Creator name={name} bus={bus} /> : <Chosen bus={bus} />;
}

function listed(path: string, key: "signals" | "outputs", names: readonly string[]): Operation {
  const at = `${path}.${key}`;
  return names.length ? { op: "set", path: at, text: `[${names.join(", ")}]` } : { op: "unset", path: at };
}

// --- selectors and assignments ------------------------------------------------------------------------

/** The signals of the incoming bus to choose from; a bus within it can be chosen as a whole. */
function Chosen({ bus }: { bus: Bus }) {
  const { path, incoming, signals } = bus;
  return (
    <>
      <NamesInput label="signals" chosen={signals} among={choicesOf(incoming, signals)} readOnly={path === ""}
        write={(names) => void edit(...choosing(bus, names))} />
      {incoming.length === 0 && <p className="hint">A bus that is wired to it lists its signals here.</p>}
    </>
  );
}

/** The operations that choose signals. Those that have other names at the outputs keep them. */
export function choosing({ path, signals, outputs }: Bus, names: readonly string[]): Operation[] {
  const renamed = outputs.length > 0 && outputs.length === signals.length;
  const own = names.map((name) => outputs[signals.indexOf(name)] ?? name.replace(/.*\./, ""));
  return [listed(path, "signals", names), ...(renamed ? [listed(path, "outputs", own)] : [])];
}

/** Signals and the buses that they are in, as a tree, and those that are chosen but not there. */
export function choicesOf(signals: readonly BusSignal[], chosen: readonly string[] = []): Choice[] {
  const found = new Map<string, Choice>();
  for (const signal of signals) {
    const parts = signal.name.split(".");
    for (let depth = 1; depth < parts.length; depth++) {
      const name = parts.slice(0, depth).join(".");
      found.set(name, { name, note: "bus", depth: depth - 1 });
    }
    found.set(signal.name, { name: signal.name, note: aboutSignal(signal), depth: parts.length - 1 });
  }
  for (const name of signals.length ? chosen : []) if (!found.has(name)) found.set(name, { name, note: "not in the bus" });
  return [...found.values()];
}

// --- creators --------------------------------------------------------------------------------------------

function Creator({ name, bus }: { name: string; bus: Bus }) {
  const { path, own } = bus;
  const [typed, setTyped] = useState("");
  const within = useStudio(({ sheet }) => sheet?.within ?? "");
  const renaming = (old: string, to: string): Operation => ({ op: "rename-signal", block: name, name: old, to, within });
  const move = (k: number): void => {
    const moved = [...own];
    moved.splice(k - 1, 2, own[k]!, own[k - 1]!);
    void edit(listed(path, "signals", moved));
  };
  const add = async (): Promise<void> => {
    if (await edit(listed(path, "signals", [...own, typed.trim()]))) setTyped("");
  };
  return (
    <section className="field" aria-label="Signals of the bus">
      <span>signals</span>
      <ol className="port-list">
        {own.map((signal, k) => (
          <li key={signal} className="field-row">
            <CommittedInput aria-label={`Name of ${signal}`} name={signal} value={signal} readOnly={path === ""}
              check={async (to) => (await tried(renaming(signal, to))).refused} commit={(to) => edit(renaming(signal, to))} />
            {path !== "" && (
              <>
                <button type="button" disabled={k === 0} aria-label={`Move ${signal} up`} title="Up" onClick={() => move(k)}>↑</button>
                <button type="button" disabled={k + 1 === own.length} aria-label={`Move ${signal} down`} title="Down" onClick={() => move(k + 1)}>↓</button>
                <Tool icon="close" name={`Remove ${signal} with its wires`}
                  onClick={() => void edit(...removing(name, bus, signal, now().sheet?.wires ?? [], within))} />
              </>
            )}
          </li>
        ))}
      </ol>
      {path !== "" && (
        <form className="new-parameter" onSubmit={(event) => { event.preventDefault(); void add(); }}>
          <input aria-label="Name of a new signal" placeholder="name" value={typed} required spellCheck={false} pattern={NAME} title={NAME_RULE}
            onChange={(event) => setTyped(event.target.value)} />
          <button type="submit" disabled={own.includes(typed.trim())}>Add</button>
        </form>
      )}
      <p className="doc">A wire to + adds a signal that is named after its source. A new name is written wherever the bus leads.</p>
    </section>
  );
}

/** The operations that take a signal out of a creator: without wires of its own, it comes by the names of
 * another block, and the others are listed. */
export function removing(block: string, { path, own, signals }: Bus, signal: string, wires: readonly SheetWire[], within: string): Operation[] {
  const cut = wires
    .filter(({ to }) => to.block === block && `${to.port}.`.startsWith(`${signal}.`))
    .map(({ source, target }): Operation => ({ op: "unwire", source, target, within }));
  const left = own.filter((one) => one !== signal);
  return [...cut, ...(signals.length || !cut.length ? [listed(path, "signals", left)] : [])];
}
