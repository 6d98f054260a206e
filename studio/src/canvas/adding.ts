// New blocks: by name, from the palette, or at the end of a wire that was dropped.

import { type Changed, edit, notify, tried } from "../actions";
import type { BlockType, Operation, Point, Sheet, SheetWire } from "../protocol";
import { now, patch, pathOf, type Drawing } from "../store";
import { between } from "./dropping";
import { freePlace } from "./geometry";
import { asKind, inputFor, type Kind, KINDS, kindOf } from "./kinds";
import { editable } from "./looks";
import { freeName, nameOfType } from "./names";
import { endOf, intoBus } from "./wiring";

/** What can be added: types of blocks and the subsystems of the file. */
export function addable(): BlockType[] {
  const { types, opened } = now();
  const subsystems = (opened?.subsystems ?? []).map((name): BlockType => ({
    name, subject: "This file", summary: "A subsystem of this file.", elsewhere: ["subsystem"],
    inputs: ["?"], outputs: ["?"], look: "subsystem",
  }));
  return [...subsystems, ...KINDS, ...types];
}

/** What can be added to the sheet that is shown: within a subsystem, ports of it too. */
export function addableHere(): BlockType[] {
  return [...(now().sheet?.within ? GATES : []), ...addable()];
}

const GATES: BlockType[] = [
  {
    name: "IN", subject: "This file", summary: "An input port of this subsystem.", elsewhere: ["Inport", "input port"],
    inputs: [], outputs: ["?"], look: "border",
  },
  {
    name: "OUT", subject: "This file", summary: "An output port of this subsystem.", elsewhere: ["Outport", "output port"],
    inputs: ["?"], outputs: [], look: "border",
  },
];

export type Ports = "inputs" | "outputs";

export function pathOfPorts({ within }: Sheet, side: Ports): string {
  return within ? `subsystems.${within}.${side}` : side;
}

/** Add a port to the subsystem that a sheet shows, or to the file, with further changes. */
export function addPort(sheet: Sheet, side: Ports, name: string, ...more: Operation[]): Promise<Changed | null> {
  return edit({ op: "append", path: pathOfPorts(sheet, side), text: name }, ...more);
}

/** Add a port by its block, wired to the port that a wire was drawn from; its list is shown. */
async function addGate(sheet: Sheet, side: Ports, from: Drawing | null): Promise<string | null> {
  const gate = side === "inputs" ? "in" : "out";
  const block = sheet.blocks.find(({ name }) => name === gate);
  const taken = [...(block?.inputs ?? []), ...(block?.outputs ?? [])].map(({ name }) => name);
  const name = freeName(from && !/^\d*$/.test(from.port) ? from.port : gate === "in" ? "input" : "output", taken);
  const wires = from ? [wireTo(from, `${gate}.${name}`, sheet.within ?? "")] : [];
  if (!(await addPort(sheet, side, name, ...wires))) return null;
  patch({ selection: [gate], said: `port ${name} added` });
  return gate;
}

/** The types with a port at which a wire from a port could end, those first that have one of its name, and
 * then what is used most; the ports of some, such as FMU, are those of a file. */
export function fitting(types: readonly BlockType[], from: Drawing | null): BlockType[] {
  if (!from) return [...types];
  const found = types.filter(({ inputs, outputs }) => (from.output ? inputs : outputs).length > 0 || inputs.length + outputs.length === 0);
  const usual = from.output ? TAKERS : GIVERS;
  const rank = ({ name, look, subject, inputs, outputs }: BlockType): number => {
    if (!/^\d*$/.test(from.port) && (from.output ? inputs : outputs).includes(from.port)) return 0;
    if (look === "border") return 1;
    if (usual.includes(name)) return 2 + usual.indexOf(name) / usual.length;
    return subject === "Subsystems" ? 4 : 3;
  };
  return found.sort((a, b) => rank(a) - rank(b));
}

/** What wires lead to most, and what they come from. */
const TAKERS = ["GAIN", "SUM", "SCOPE", "INTEGRATOR", "LTI_SISO", "SATURATION", "PROD"];
const GIVERS = ["CONSTANT", "STEP", "GAIN", "SUM", "INTEGRATOR", "LTI_SISO", "WAVEFORM"];

/** Add a block, wired to the port that a wire was drawn from. Answers its name. */
export async function addBlock(type: BlockType, place: Point, from: Drawing | null = null): Promise<string | null> {
  const { sheet } = now();
  if (!sheet) return null;
  if (sheet.within === null) {
    notify("This sheet is of another file: open that file to edit it", "fault");
    return null;
  }
  if (type.look === "border") return addGate(sheet, type.name === "IN" ? "inputs" : "outputs", from);
  const kind = kindOf(type);
  const taken = [...sheet.blocks.map((block) => block.name), ...(kind ? (now().opened?.subsystems ?? []) : [])];
  const name = freeName(nameOfType(type.name), taken);
  const free = from ? atPort(place, from) : freePlace(place, 120, 70, sheet.blocks);
  const { within } = sheet;
  const add: Operation & { op: "add" } = { op: "add", name, type: type.name, within, place: round(free) };
  const operations = kind ? subsystem(kind, add, from) : from ? [add, await bestWire(add, type, from, within)] : [add];
  if (!(await edit(...operations))) return null;
  patch({ selection: [name], renaming: name, fresh: name, defines: !!kind, reveal: [name], said: `${name} added` });
  return name;
}

/** What adds a subsystem of a kind, wired to the port that a wire was drawn from. */
function subsystem(kind: Kind, { name, within, place }: Operation & { op: "add" }, from: Drawing | null): Operation[] {
  const made: Operation[] = [{ op: "subsystem", name, within, place }, ...asKind(kind, name, within)];
  if (!from) return made;
  const source = now().sheet?.blocks.find((block) => block.name === from.block)?.type ?? "";
  return [...made, wireTo(from, `${name}.${from.output ? inputFor(kind, source) : "y"}`, within)];
}

/** Add a block that a wire leads through: to the ports at which the fewest mistakes arise. */
export async function addInto(type: BlockType, wire: SheetWire, [x, y]: Point): Promise<string | null> {
  const { sheet } = now();
  const within = sheet && editable();
  if (!sheet || within === null) return null;
  if (type.inputs.length === 0 || type.outputs.length === 0) {
    notify(`${type.name} has no ${type.inputs.length ? "output" : "input"}, so no wire leads through it`, "fault");
    return null;
  }
  const name = freeName(nameOfType(type.name), sheet.blocks.map((block) => block.name));
  const add: Operation = { op: "add", name, type: type.name, within, place: round([x - 50, y - 30]) };
  const inputs = type.name === "BUS_CREATOR" ? [intoBus(wire.from, name, []).target]
    : type.inputs.length > 1 ? type.inputs.slice(0, MOST_TRIED).map((port) => `${name}.${port}`) : [name];
  const output = type.outputs.length > 1 ? `${name}.${type.outputs[0]}` : name;
  const ways = inputs.map((input) => [add, ...between(wire, input, output, within)]);
  const counts = ways.length > 1 ? await Promise.all(ways.map(async (way) => (await tried(...way)).problems.length)) : [0];
  if (!(await edit(...ways[counts.indexOf(Math.min(...counts))]!))) return null;
  patch({ selection: [name], wires: [], renaming: name, fresh: name, defines: false, reveal: [name], said: `${name} inserted` });
  return name;
}

/** The place of a block one of whose ports is where a wire was dropped. */
function atPort([x, y]: Point, { output }: Drawing): Point {
  return [output ? x : x - 80, y - 30];
}

function round([x, y]: Point): Point {
  return [Math.round(x), Math.round(y)];
}

const MOST_TRIED = 6;

/** The wire to the port of a new block at which the fewest mistakes arise; of equals to that of the same
 * name, or the first. */
async function bestWire(add: Operation & { op: "add" }, type: BlockType, from: Drawing, within: string): Promise<Operation> {
  if (from.output && type.name === "BUS_CREATOR") return { op: "wire", ...intoBus(from, add.name, []), within };
  const all = from.output ? type.inputs : type.outputs;
  const ports = [...all.filter((port) => port === from.port), ...all.filter((port) => port !== from.port)];
  const whole = wireTo(from, add.name, within); // a block of one port needs no name of it
  if (ports.length < 2) return whole;
  const wires = [...ports.slice(0, MOST_TRIED).map((port) => wireTo(from, `${add.name}.${port}`, within)), whole];
  const counts = await Promise.all(wires.map(async (wire) => (await tried(add, wire)).problems.length));
  return wires[counts.indexOf(Math.min(...counts))]!;
}

function wireTo({ block, port, output }: Drawing, other: string, within: string): Operation {
  const own = endOf(block, port, output);
  const [source, target] = output ? [own, other] : [other, own];
  return { op: "wire", source, target, within };
}

/** The path of the only selected block; null for none or several. */
export function selectedPath(): string | null {
  const { sheet, selection } = now();
  return sheet && selection.length === 1 ? pathOf(sheet.at, selection[0]!) : null;
}
