// Wires by keyboard: from a port of the selected block to one at which the wire fits.

import { useState } from "react";

import { edit } from "../actions";
import { Chooser, type Choice } from "../app/Chooser";
import { Dialog } from "../app/Dialog";
import type { SheetPort, SheetWire } from "../protocol";
import { type Drawing, now, patch, useStudio } from "../store";
import { wireKey } from "./geometry";
import { beginWire, endsOf as textsOf, WHOLE, wire } from "./wiring";

export function WireDialog() {
  const sheet = useStudio((state) => state.sheet);
  const name = useStudio((state) => state.selection[0]);
  const [from, setFrom] = useState<Drawing | null>(null);
  const block = sheet?.blocks.find((one) => one.name === name);
  const close = (): void => patch({ dialog: null, drawing: null });
  if (!sheet) return null;
  // Without a block one is being made, as of a group, and is selected soon.
  const ports: Choice<[string, boolean]>[] = !block ? [] : [
    ...block.outputs.map((port) => portChoice(port, true)),
    ...block.further.map((port): Choice<[string, boolean]> => ({ key: `output ${port}`, thing: [port, true], name: `output ${port}`, note: "a port once it is wired" })),
    ...block.inputs.map((port) => portChoice(port, false)),
  ];
  const begin = ([port, output]: [string, boolean]): void => void beginWire(block!.name, port, output).then(setFrom);
  const label = from ? `Where ${placeName(from.block, from.port)} is wired to` : `A wire from which port of ${block?.name ?? "the block"}`;
  return (
    <Dialog name={label} onClose={close}>
      {from ? (
        <Chooser key="to" label={label} choices={endsOf(from, sheet.wires)}
          onChoose={(act) => { close(); void act(); }} empty="There is no port at which it fits." />
      ) : (
        <Chooser key="from" label={label} choices={ports} onChoose={begin} empty="The block has no such port." />
      )}
    </Dialog>
  );
}

function portChoice({ name, label, doc }: SheetPort, output: boolean): Choice<[string, boolean]> {
  const side = output ? "output" : "input";
  return { key: `${side} ${name}`, thing: [name, output], name: `${side} ${name === WHOLE ? label : name}`, note: doc };
}

/** A port as it is written; all signals of a block are the block. */
function placeName(block: string, port: string): string {
  return port === WHOLE ? block : `${block}.${port}`;
}

/** What can be done with a port: change or cut its wires, or draw one to a port that fits. */
function endsOf(from: Drawing, wires: readonly SheetWire[]): Choice<() => Promise<unknown>>[] {
  const mine = wires.filter((one) => {
    const end = from.output ? one.from : one.to;
    return end.block === from.block && end.port === from.port;
  });
  const changes = mine.map((one) => ({
    key: `change ${one.source} ${one.target}`,
    name: `change ${one.source} → ${one.target}`,
    thing: async () => patch({ selection: [], wires: [wireKey(one)], filling: "from" }),
  }));
  const cuts = mine.map((one) => ({
    key: `cut ${one.source} ${one.target}`,
    name: `remove ${one.source} → ${one.target}`,
    thing: () => cut(one),
  }));
  const ends = Object.entries(from.fits ?? {}).map(([key, reason]) => {
    const cut = key.indexOf(".");
    const other = { block: key.slice(0, cut), port: key.slice(cut + 1) };
    const { source, target } = from.output ? textsOf(from, other) : textsOf(other, from);
    return { key, name: placeName(other.block, other.port), reason: reason ?? undefined, thing: () => wire(source, target) };
  });
  return [...ends, ...changes, ...cuts];
}

async function cut({ source, target }: SheetWire): Promise<void> {
  const within = now().sheet?.within ?? null;
  if (within !== null) await edit({ op: "unwire", source, target, within });
}
