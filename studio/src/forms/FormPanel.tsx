// The panel at the right: what is selected, with its parameters.

import { type KeyboardEvent, lazy, Suspense } from "react";

import { alignSelected } from "../canvas/commands";
import type { Alignment } from "../canvas/align";
import { wireKey } from "../canvas/geometry";
import { Tool } from "../app/Header";
import { patch, pathOf, useStudio } from "../store";
import { BlockForm } from "./BlockForm";
import { FileForm } from "./FileForm";
import { PortsForm } from "./PortsForm";
import { WireForm } from "./WireForm";

const ChartForm = lazy(() => import("../chart/ChartForm"));

const ALIGNMENTS: [Alignment, string][] = [
  ["left", "Align left"], ["centre", "Align centres"], ["right", "Align right"],
  ["top", "Align tops"], ["middle", "Align middles"], ["bottom", "Align bottoms"],
  ["across", "Spread across"], ["down", "Spread down"],
];

export function FormPanel() {
  const selection = useStudio((state) => state.selection);
  const at = useStudio((state) => state.sheet?.at ?? "");
  const isChart = useStudio((state) => state.sheet?.chart !== undefined);
  const [only] = selection;
  const isGate = useStudio(({ sheet }) => sheet?.blocks.some(({ name, look }) => name === only && look === "border") ?? false);
  const wire = useStudio(({ sheet, wires }) => (wires.length === 1 ? sheet?.wires.find((one) => wireKey(one) === wires[0]) : undefined));
  return (
    <aside className="form-panel" aria-label="Parameters" onKeyDown={toSheet}>
      {isChart ? <Suspense><ChartForm /></Suspense>
        : only === undefined && wire ? <WireForm wire={wire} />
        : only === undefined ? <FileForm />
        : selection.length === 1 && isGate ? <PortsForm key={pathOf(at, only)} gate={only === "in" ? "in" : "out"} />
        : selection.length === 1 ? <BlockForm key={pathOf(at, only)} name={only} />
        : <Several count={selection.length} />}
    </aside>
  );
}

/** Escape gives the keys back to the sheet; fields with parameters do so themselves. */
function toSheet({ key, target }: KeyboardEvent): void {
  if (key === "Escape" && target instanceof HTMLInputElement) target.blur();
}

function Several({ count }: { count: number }) {
  return (
    <section className="form">
      <h2>{count} blocks</h2>
      <div className="align" role="toolbar" aria-label="Align">
        {ALIGNMENTS.map(([how, name]) => <Tool key={how} icon={how} name={name} onClick={() => void alignSelected(how)} />)}
      </div>
      <button type="button" onClick={() => patch({ dialog: "group" })}>Make a subsystem</button>
    </section>
  );
}
