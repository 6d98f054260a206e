import { useState } from "react";

import { groupSelected } from "../canvas/commands";
import { freeName } from "../canvas/names";
import { now, patch } from "../store";
import { Dialog } from "./Dialog";

/** Asks how the subsystem of the selected blocks is called. */
export function GroupDialog() {
  const { selection, sheet } = now();
  const [name, setName] = useState(() => freeName("subsystem", sheet?.blocks.map((block) => block.name) ?? []));
  const close = (): void => patch({ dialog: null });
  return (
    <Dialog name="Make a subsystem" onClose={close}>
      <form className="ask" onSubmit={(event) => { event.preventDefault(); close(); void groupSelected(name.trim()); }}>
        <h2>Make a subsystem of {selection.length} {selection.length === 1 ? "block" : "blocks"}</h2>
        <label>Its name <input value={name} autoFocus required spellCheck={false} onFocus={(event) => event.target.select()}
          onChange={(event) => setName(event.target.value)} /></label>
        <div className="row">
          <button type="submit">Make</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
