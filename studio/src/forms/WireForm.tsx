// The form of the selected wire: its ends in the notation of wires, entries of a vector included.

import { useId } from "react";

import { edit } from "../actions";
import { wireKey } from "../canvas/geometry";
import type { SheetWire } from "../protocol";
import { askForBreakpoint } from "../run/asking";
import { now, patch, useStudio } from "../store";
import { CommittedInput } from "./CommittedInput";
import { useFilling } from "./useForm";

export function WireForm({ wire }: { wire: SheetWire }) {
  const sheet = useStudio((state) => state.sheet);
  const start = sheet?.blocks.find(({ name }) => name === wire.from.block);
  const port = start?.outputs.find(({ name }) => name === wire.from.port);
  const readOnly = sheet?.within === null;
  useFilling(true);
  const carried = [port?.shape && `(${port.shape})`, port?.unit].filter(Boolean).join(" ");
  return (
    <section className="form" aria-label="Wire">
      <h2>Wire</h2>
      {wire.problems.map(({ message, hint }) => <p className="wrong-text" key={message}>{message} <span className="hint">{hint}</span></p>)}
      <End name="from" text={wire.source} readOnly={readOnly} doc={`A block or its port${carried && `, here ${carried}`}; of a vector an entry, [2], or some, [0:3].`}
        write={(source) => rewire(wire, source, wire.target)} />
      <End name="to" text={wire.target} readOnly={readOnly} doc="A block or its port." write={(target) => rewire(wire, wire.source, target)} />
      {wire.signal && <button type="button" title="Pause runs where its value meets a condition (F9)" onClick={askForBreakpoint}>Breakpoint…</button>}
    </section>
  );
}

interface EndProps {
  name: string;
  text: string;
  readOnly: boolean;
  doc: string;
  write: (text: string) => Promise<void>;
}

function End({ name, text, readOnly, doc, write }: EndProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      <div className="field-row">
        <CommittedInput id={id} name={name} value={text} readOnly={readOnly} aria-describedby={`${id}-doc`} commit={write} />
      </div>
      <p className="doc" id={`${id}-doc`}>{doc}</p>
    </div>
  );
}

/** Give a wire other ends. It stays selected. */
async function rewire(wire: SheetWire, source: string, target: string): Promise<void> {
  const within = now().sheet?.within;
  if (within == null) return;
  const ends = { source: wire.source, target: wire.target };
  const changed = await edit({ op: "unwire", ...ends, within }, { op: "wire", source, target, within });
  const fresh = changed?.sheet.wires.find((one) => one.source === source && one.target === target);
  if (fresh) patch({ wires: [wireKey(fresh)], said: `${source} wired to ${target}` });
}
