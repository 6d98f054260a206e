import { useState } from "react";

import { newFile } from "../actions";
import { now } from "../store";
import { Dialog } from "./Dialog";

/** Asks for the name and the file of a new diagram, makes it and opens it. */
export function NewDiagram({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [path, setPath] = useState<string | null>(null);
  const made = `${now().project?.folder ?? ""}${name.trim().toLowerCase().replace(/[^a-z0-9]+/g, "_") || "new"}.yaml`;
  const file = path ?? made;
  const make = async (): Promise<void> => {
    if (await newFile(file.trim(), name.trim())) onClose();
  };
  return (
    <Dialog name="New diagram" onClose={onClose}>
      <form className="ask" onSubmit={(event) => { event.preventDefault(); void make(); }}>
        <h2>New diagram</h2>
        <label>Name <input value={name} required autoFocus onChange={(event) => setName(event.target.value)} /></label>
        <label>File <input value={file} required spellCheck={false} onChange={(event) => setPath(event.target.value)} /></label>
        <div className="row">
          <button type="submit">Make</button>
          <button type="button" onClick={onClose}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
