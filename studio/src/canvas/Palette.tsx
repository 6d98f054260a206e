// Blocks to add, by subject: dragged onto the sheet, or put in its middle by a click.

import { useReactFlow } from "@xyflow/react";
import { memo, useMemo, useState } from "react";

import type { BlockType } from "../protocol";
import { useStudio } from "../store";
import { addableHere, addBlock } from "./adding";
import { placeFor } from "./choices";
import { matching } from "./filter";
import { Mark } from "./Mark";

export const DRAGGED = "application/x-spart-block";

export function Palette() {
  const types = useStudio((state) => state.types);
  const subsystems = useStudio((state) => state.opened?.subsystems);
  const within = useStudio((state) => state.sheet?.within);
  const [typed, setTyped] = useState("");
  const all = useMemo(() => addableHere(), [types, subsystems, within]);
  const found = matching(typed, all, ({ name, elsewhere, summary }) => [name, ...elsewhere, summary]);
  return (
    <aside className="palette" aria-label="Blocks to add">
      <input type="search" aria-label="Filter blocks" placeholder="Search blocks" value={typed} spellCheck={false}
        onChange={(event) => setTyped(event.target.value)} />
      {typed ? <List types={found} /> : <Subjects types={all} />}
    </aside>
  );
}

const Subjects = memo(function Subjects({ types }: { types: BlockType[] }) {
  const subjects = new Map<string, BlockType[]>();
  for (const type of types) subjects.set(type.subject, [...(subjects.get(type.subject) ?? []), type]);
  return [...subjects].map(([subject, own]) => <Subject key={subject} subject={subject} types={own} />);
});

function Subject({ subject, types }: { subject: string; types: BlockType[] }) {
  const [open, setOpen] = useState(false);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{subject}</summary>
      {open && <List types={types} />}
    </details>
  );
}

function List({ types }: { types: BlockType[] }) {
  const flow = useReactFlow();
  return (
    <ul>
      {types.map((type) => (
        <li key={type.name}>
          <button type="button" className={`look-${type.look}`} draggable title={`${type.summary}\nClick to add, or drag onto the sheet.`}
            onDragStart={(event) => event.dataTransfer.setData(DRAGGED, type.name)}
            onClick={() => void addBlock(type, placeFor(flow))}>
            <Mark look={type.look} />
            {type.name}
          </button>
        </li>
      ))}
    </ul>
  );
}
