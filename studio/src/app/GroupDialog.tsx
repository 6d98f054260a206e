import { useState } from "react";

import { groupSelected } from "../canvas/commands";
import { GROUPS } from "../canvas/kinds";
import { freeName } from "../canvas/names";
import { now, patch } from "../store";
import { Dialog } from "./Dialog";

/** Asks how the subsystem of the selected blocks is called. */
export function GroupDialog() {
  const { selection, sheet } = now();
  const [name, setName] = useState(() => freeName("subsystem", sheet?.blocks.map((block) => block.name) ?? []));
  const [kind, setKind] = useState(0);
  const close = (): void => patch({ dialog: null });
  return (
    <Dialog name="Make a subsystem" onClose={close}>
      <form className="ask" onSubmit={(event) => { event.preventDefault(); close(); void groupSelected(name.trim(), GROUPS[kind]); }}>
        <h2>Make a subsystem of {selection.length} {selection.length === 1 ? "block" : "blocks"}</h2>
        <label>Its name <input value={name} autoFocus required spellCheck={false} onFocus={(event) => event.target.select()}
          onChange={(event) => setName(event.target.value)} /></label>
        <label>Its kind <select value={kind} onChange={(event) => setKind(Number(event.target.value))}>
          {GROUPS.map(({ name: one }, k) => <option key={one} value={k}>{one}</option>)}
        </select></label>
        <p className="hint">{GROUPS[kind]?.summary}</p>
        <div className="row">
          <button type="submit">Make</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
