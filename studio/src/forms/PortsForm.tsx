// The ports of a subsystem, or of a file that others use: its blocks `in` and `out`.

import { useState } from "react";

import { edit, notify } from "../actions";
import { Tool } from "../app/Header";
import { addPort, pathOfPorts, type Ports } from "../canvas/adding";
import type { Sheet } from "../protocol";
import { useStudio } from "../store";
import { CommittedInput } from "./CommittedInput";
import { NAME, NAME_RULE } from "./FileForm";

export function PortsForm({ gate }: { gate: "in" | "out" }) {
  const sheet = useStudio((state) => state.sheet);
  const block = sheet?.blocks.find(({ name }) => name === gate);
  if (!sheet || !block) return null;
  const side = gate === "in" ? "inputs" : "outputs";
  const ports = gate === "in" ? block.outputs : block.inputs;
  const names = ports.map(({ name }) => name);
  const readOnly = sheet.within === null;
  const remove = async (name: string, isCondition: boolean): Promise<void> => {
    const within = sheet.within ?? "";
    const removed = await edit({ op: "remove-port", name, side, within });
    if (removed && isCondition) notify(`${within || "the file"} no longer runs on the condition ${name}; undo brings it back`);
  };
  return (
    <section className="form" aria-label={side === "inputs" ? "Inputs" : "Outputs"}>
      <h2>{side === "inputs" ? "Inputs" : "Outputs"}</h2>
      <p>Of {sheet.within ? `the subsystem ${sheet.within}` : "this file, for those that use it"}. A new name is written wherever the port is wired.</p>
      <ol className="port-list">
        {ports.map(({ name, label }, k) => (
          <li key={name} className="field-row">
            {label !== name && <abbr title="A condition on which the subsystem runs">{label.split(" ")[0]}</abbr>}
            <CommittedInput aria-label={`Name of ${name}`} value={name} readOnly={readOnly} pattern={NAME} title={NAME_RULE}
              commit={(to) => edit({ op: "rename-port", name, to, side, within: sheet.within ?? "" })} />
            {!readOnly && (
              <>
                <button type="button" disabled={k === 0} aria-label={`Move ${name} up`} title="Up" onClick={() => void reorder(sheet, side, names, k)}>↑</button>
                <button type="button" disabled={k + 1 === names.length} aria-label={`Move ${name} down`} title="Down" onClick={() => void reorder(sheet, side, names, k + 1)}>↓</button>
                <Tool icon="close" name={`Remove ${name} with its wires${label === name ? "" : " and the condition"}`} onClick={() => void remove(name, label !== name)} />
              </>
            )}
          </li>
        ))}
      </ol>
      {!readOnly && <NewPort side={side} taken={names} add={(name) => addPort(sheet, side, name)} />}
    </section>
  );
}

/** Change the places of a port and the one above it. */
function reorder(sheet: Sheet, side: Ports, names: readonly string[], k: number): Promise<unknown> {
  const moved = [...names];
  moved.splice(k - 1, 2, names[k]!, names[k - 1]!);
  return edit({ op: "set", path: pathOfPorts(sheet, side), text: `[${moved.join(", ")}]` });
}

function NewPort({ side, taken, add }: { side: string; taken: readonly string[]; add: (name: string) => Promise<unknown> }) {
  const [name, setName] = useState("");
  const submit = async (): Promise<void> => {
    setName(""); // the next one is typed meanwhile
    if (!(await add(name.trim()))) setName((next) => next || name);
  };
  return (
    <form className="new-parameter" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
      <input aria-label={`Name of a new ${side === "inputs" ? "input" : "output"}`} placeholder="name" value={name} required spellCheck={false}
        pattern={NAME} title={NAME_RULE} onChange={(event) => setName(event.target.value)} />
      <button type="submit" disabled={taken.includes(name.trim())}>Add</button>
    </form>
  );
}
