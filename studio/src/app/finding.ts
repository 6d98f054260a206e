// What can be found in a file: blocks, their ports, parameters and states, and the parameters of the file.

import type { Content, Field } from "../protocol";
import { pathOf } from "../store";
import type { Choice } from "./Chooser";

/** Where a find is: in the form of a block, or of the file where there is no block. */
export interface Place {
  at: string;
  block?: string;
  /** The parameter. */
  field?: string;
  /** The path of a state of the machine. */
  state?: string;
}

export function finds(contents: readonly Content[], params: readonly Field[]): Choice<Place>[] {
  const blocks: Choice<Place>[] = [];
  const inside: Choice<Place>[] = [];
  for (const { at, block, type, ports, parameters, states = {} } of contents) {
    const name = pathOf(at, block);
    blocks.push({ key: name, thing: { at, block }, name, note: type, words: [block, type] });
    for (const port of ports) {
      inside.push({ key: `${name}.${port} port`, thing: { at, block }, name: `${name}.${port}`, note: `port of ${type}`, words: [port] });
    }
    for (const [state, own] of Object.entries(states)) {
      inside.push({ key: `${name} ${state}`, thing: { at, block, state }, name: own, note: `state of ${name}`, words: [block] });
    }
    for (const [field, text] of Object.entries(parameters)) {
      inside.push({ key: `${name}.${field}`, thing: { at, block, field }, name: `${name}.${field}`, note: `= ${text}`, words: [field, text] });
    }
  }
  const own = params.map(({ name, text }): Choice<Place> => (
    { key: `params ${name}`, thing: { at: "", field: name }, name, note: `= ${text}, of the file`, words: [text ?? ""] }
  ));
  return [...blocks, ...own, ...inside];
}
