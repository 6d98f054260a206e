// Written by docs/make_protocol.py.

// What the page of the studio and its server say to each other over one WebSocket, /socket.
//
// The page sends requests, {n, do, ...arguments}; the server answers each with its number n. In
// between it tells what has happened, {tell, ...}. Rows of numbers come as binary messages: the
// length of a JSON header (uint32, little-endian), the header, zeros up to a multiple of 8 bytes,
// and float64 numbers. `python docs/make_protocol.py` writes these types as studio/src/protocol.ts.

/** The file has changed outside, and was read again. */
export interface FileChanged {
  tell: "changed";
  path: string;
  opened: Opened;
}

/** It has changed outside, and cannot be read, or is gone. */
export interface FileConflict {
  tell: "conflict";
  path: string;
  problem: Problem;
}

export interface RunTold {
  tell: "run";
  path: string;
  run: Run;
}

/** A run is no longer kept. */
export interface RunDropped {
  tell: "run-dropped";
  path: string;
  run: number;
}

export interface TestTold {
  tell: "test";
  path: string;
  test: Test;
}

export interface JobTold {
  tell: "job";
  path: string;
  job: Job;
}

/** A job is no longer kept. */
export interface JobDropped {
  tell: "job-dropped";
  path: string;
  job: number;
}

export interface LoopEnded {
  tell: "loop-ended";
  loop: string;
  reason: string;
}

export interface BreakpointsTold {
  tell: "breakpoints";
  path: string;
  breakpoints: Breakpoint[];
}

export type Told = FileChanged | FileConflict | RunTold | RunDropped | TestTold | JobTold | JobDropped | LoopEnded | BreakpointsTold;

export interface Answers {
  "project": Project;
  "named": string | null;
  "models": ModelFile[];
  "open": Opened;
  "new": Opened;
  "close": null;
  "sheet": Sheet;
  "form": Form;
  "kinds": Kinds;
  "bus": Bus;
  "fits": Fits;
  "unfit": Unfit;
  "contents": Content[];
  "text": FileText;
  "complete": Completion[];
  "edit": Changed;
  "try": Tried;
  "undo": Changed;
  "redo": Changed;
  "place": Changed;
  "tidy": Changed;
  "choose": Changed;
  "panels": Panels;
  "keep-panels": null;
  "types": BlockType[];
  "run": Run;
  "continue": Run;
  "pause": null;
  "resume": null;
  "step": null;
  "moment": number | null;
  "changed": AtInstant;
  "breakpoints": Breakpoint[];
  "set-breakpoints": Breakpoint[];
  "stop": null;
  "speed": null;
  "tune": null;
  "push": null;
  "keep": Changed;
  "runs": Run[];
  "values": Record<string, Value>;
  "signals": Rows;
  "suggest": Suggested;
  "states": State[];
  "active": Active[];
  "pushed": string[];
  "tunables": Tunable[];
  "motion": unknown;
  "loops": Loop[];
  "attach": Run;
  "watch": null;
  "detach": null;
  "claims": Claims;
  "test": Test;
  "stop-test": null;
  "record": Test;
  "job-options": JobKind[];
  "job": Job;
  "jobs": Job[];
  "stop-job": null;
  "resume-job": Job;
  "forget-job": null;
  "sweep-table": SweepTable;
  "sweep-run": Run;
  "revisions": Revisions;
  "changes": Changes;
}

// Answers, and what is wrong, with the edit that corrects it.

export type Keys = (string | number)[];

// x and y.
export type Point = [number, number];

/** The answer of a request. */
export interface Answer {
  n: number;
  ok?: unknown;
  problem?: Problem;
}

/** One fault as a person reads it, with its place. */
export interface Problem {
  message: string;
  hint?: string;
  /** file:line:column, as the command line shows it. */
  place?: string;
  /** The block at which the page shows it, as a path of instances: "ctrl", "arm/servo". */
  block?: string;
  /** The parameter of that block, or a port. */
  argument?: string;
  /** The path in the file, as "set" names it, where it is deeper than a parameter. */
  path?: string;
  /** The edit that corrects it. */
  edit?: WrapOperation;
  /** Simulation time [s]. */
  time?: number;
  /** Further faults of the same request. */
  others?: Problem[];
}

/** Move a choice of a slot into a subsystem with other ports. wires: those within. */
export interface WrapOperation {
  op: "wrap";
  slot: string;
  choice: string;
  wires: string[];
}

// The project, and a file with its sheets.

/** do: "project". do: "named" -> string | null: the file that the command line named. */
export interface Project {
  name: string;
  diagrams: ProjectDiagram[];
  /** Where a new diagram goes: "diagrams/", or "" for the root. */
  folder: string;
}

export interface ProjectDiagram {
  /** From the project's root, with slashes. */
  path: string;
  name: string;
  description: string;
  blocks: number;
  /** Its picture: GET /thumbnail?path=... */
  problem: string | null;
}

/** do: "open" {path}; also the answer of what changes a file. do: "new" {path, name} writes the
 * file of a diagram without blocks, which is not there yet, and opens it. do: "close" {path}. */
export interface Opened {
  path: string;
  name: string;
  description: string;
  /** Of the text; edits name the one they were made for. */
  revision: string;
  /** Mistakes of the diagram as it is; it runs when there are none. */
  problems: Problem[];
  undo: string | null;
  redo: string | null;
  /** Slots of variants. */
  variants: Slot[];
  /** Names of subsystems of the file, each a definition that blocks may be of. */
  subsystems: string[];
  params: Field[];
  /** Its robots and clocks, each a section as text. */
  robots: Field[];
  clocks: Field[];
  run: RunOptions;
}

/** A slot of variants. */
export interface Slot {
  slot: string;
  choices: string[];
  /** The one that is shown and run, and the file's own. */
  chosen: string;
  default: string;
}

/** How a file is run. */
export interface RunOptions {
  T: number;
  solver: string;
}

/** do: "sheet" {path, at}: the blocks of the whole (at = "") or of a subsystem's instance
 * ("arm/servo"), laid out. Lengths are in pixels at zoom 1. */
export interface Sheet {
  at: string;
  /** The definition that edits name in `within`; null where the sheet is of another file, and so
   * cannot be edited here. */
  within: string | null;
  /** Another one after each change. */
  version: number;
  /** When the subsystem runs, and how many copies of it there are, in words. */
  runs: string[];
  blocks: SheetBlock[];
  wires: SheetWire[];
  /** Of a state machine, which has no blocks: its chart. */
  chart?: Chart;
  notes: SheetNote[];
  areas: SheetArea[];
}

/** A text on a sheet. index: of the note in the file. */
export interface SheetNote {
  index: number;
  text: string;
  /** Its upper left corner. */
  x: number;
  y: number;
  /** The block that it stays with, or null. */
  by: string | null;
}

/** A coloured rectangle around blocks. index: of the area in the file. */
export interface SheetArea {
  index: number;
  title: string;
  colour: Colour;
  blocks: string[];
}

export interface SheetBlock {
  name: string;
  type: string;
  /** What it looks like: its class. */
  look: Look;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Whether a person has put it there. */
  moved: boolean;
  inputs: SheetPort[];
  outputs: SheetPort[];
  /** Outputs that it gets when a wire begins at them: "umdot", "audit.p". */
  further: string[];
  /** The sheet that it opens, or null. */
  opens: string | null;
  /** Of a subsystem from another file: the file, to open it. */
  file: string | null;
  clock: string | null;
  face: BlockFace;
  /** The middle of its name and face, from its left edge: between the texts at its ports. */
  centre: number;
  /** The side to which its outputs lead. */
  facing: Facing;
  /** Its own colour; null for that of its class. */
  colour: Colour | null;
  /** Whether its name is shown. */
  named: boolean;
  problems: Problem[];
}

/** What a block shows of its function in its box: a drawing, a text, or a fraction. */
export interface BlockFace {
  /** The name of a drawing, or empty. */
  glyph: string;
  /** A text, or the numerator of a fraction. */
  over: string;
  /** The denominator of a fraction; else empty. */
  under: string;
}

export interface SheetPort {
  name: string;
  /** The text at the port: its name, or the operator of a sum or product; may be empty. */
  label: string;
  /** From the block's upper edge; from its left edge where it faces up or down. */
  offset: number;
  wired: boolean;
  /** Shape and unit where they are known: "3", "[rad/s]". */
  shape: string;
  unit: string;
  doc: string;
  /** Whether it stands for all signals of a bus. */
  bus: boolean;
}

/** A signal of a bus. A dot in its name makes a bus within the bus. */
export interface BusSignal {
  name: string;
  shape: string;
  unit: string;
}

/** do: "bus" {path, at, block}: the form of a block of buses. */
export interface Bus {
  /** The block's path for "set"; "" where it cannot be edited. */
  path: string;
  /** The signals of the bus that is wired to a selector or an assignment. */
  incoming: BusSignal[];
  /** The signals of a creator, and the buses within its bus. */
  own: string[];
  /** Those that the block names. */
  signals: string[];
  outputs: string[];
}

/** A port of a block on a sheet. */
export interface WireEnd {
  block: string;
  port: string;
}

interface _WireFrom {
  "from": WireEnd;
}

export interface SheetWire extends _WireFrom {
  /** Source and target in the notation of wires: "plant.qm", "ctrl.qm". */
  source: string;
  target: string;
  to: WireEnd;
  points: Point[];
  /** The signal that `values` names, `*` for the numbers of copies; null where it has none. */
  signal: string | null;
  /** The signals of a wire that is a bus, by their names in it; else empty. */
  bus: BusSignal[];
  problems: Problem[];
}

// The numbers of the first one, and of the one after the last.
export type Range = [number, number];

/** What has changed of a sheet: what is new or different, and ranges of what is as before. */
export interface SheetChange {
  at: string;
  within: string | null;
  runs: string[];
  version: number;
  /** The version of the sheet whose blocks and wires the ranges are of. */
  base: number;
  blocks: (SheetBlock | Range)[];
  wires: (SheetWire | Range)[];
  notes: SheetNote[];
  areas: SheetArea[];
}

/** The answer of "edit", "undo", "redo", "place", "tidy", "choose". With `version`, that of the
 * sheet that the page has, only what has changed of it is given. */
export interface Changed {
  opened: Opened;
  sheet: Sheet | SheetChange;
}

// do: "edit" {path, at, revision, operations, places?}; do: "try" with the same arguments writes
// nothing. places: {[block]: Point} to which blocks of the sheet are moved in the same step.
// do: "undo" | "redo" {path, at}. do: "place" {path, at, places: {[block]: Point}} moves blocks;
// do: "tidy" {path, at} forgets where they were put. Both are undone like edits; neither changes
// the file. do: "choose" {path, at, slot, choice} chooses a variant for looking and running.
/** The answer of "try": the mistakes of the diagram as it would be. */
export interface Tried {
  problems: Problem[];
  /** Whether it has no new ones, apart from inputs without a wire. */
  right: boolean;
}

/** Write a value as YAML: blocks.ctrl.kp, params.kp, expect.final[1].value. */
export interface SetOperation {
  op: "set";
  path: string;
  text: string;
}

export interface UnsetOperation {
  op: "unset";
  path: string;
}

/** A port of a subsystem gets another name, also where it is wired. within: the subsystem, ""
 * for the file itself. */
export interface RenamePort {
  op: "rename-port";
  name: string;
  to: string;
  side: "inputs" | "outputs";
  within: string;
}

/** A port of a subsystem goes, with its wires. */
export interface RemovePort {
  op: "remove-port";
  name: string;
  side: "inputs" | "outputs";
  within: string;
}

/** Rename a parameter of params, with all its uses. */
export interface RenameParameter {
  op: "rename-parameter";
  name: string;
  to: string;
}

/** Rename a clock or a robot, with all its uses. */
export interface RenameEntry {
  op: "rename-entry";
  section: "clocks" | "robots";
  name: string;
  to: string;
}

/** A state of a machine gets another name, also in transitions and formulas. path: of the state:
 * blocks.modes.states.idle. */
export interface RenameState {
  op: "rename-state";
  path: string;
  to: string;
}

/** An argument, an output, a variable or a parameter of a machine gets another name, also in its
 * formulas and wires. path: blocks.modes.arguments.rate. */
export interface RenameValue {
  op: "rename-value";
  path: string;
  to: string;
}

/** A state goes, with its substates and the transitions to them and from them. */
export interface RemoveState {
  op: "remove-state";
  path: string;
}

/** A state goes into another, or into the machine: into is the path of that, or of the block.
 * before: the state there before which it comes. */
export interface MoveState {
  op: "move-state";
  path: string;
  into: string;
  before?: string;
}

/** An item of a list goes to another index: blocks.modes.transitions[2]. */
export interface MoveItem {
  op: "move-item";
  path: string;
  index: number;
}

/** Append to a list, which may not be there yet: expect.final. */
export interface AppendOperation {
  op: "append";
  path: string;
  text: string;
}

export interface AddOperation {
  op: "add";
  name: string;
  type: string;
  parameters?: Record<string, string>;
  within: string;
  place?: Point;
}

export interface RemoveOperation {
  op: "remove";
  names: string[];
  within: string;
}

export interface RenameOperation {
  op: "rename";
  name: string;
  to: string;
  within: string;
}

/** Change the type of a block; parameters that the new type has not are left out. */
export interface RetypeOperation {
  op: "retype";
  name: string;
  type: string;
  within: string;
}

export interface WireOperation {
  op: "wire" | "unwire";
  source: string;
  target: string;
  within: string;
}

/** A new subsystem, and a block of it with its name. */
export interface SubsystemOperation {
  op: "subsystem";
  name: string;
  within: string;
  place?: Point;
}

/** A signal of a bus gets another name, wherever the bus leads and where it is named. block: one
 * of buses; name: as the bus has it, "arm.qm"; to: without the bus within the bus, "angle". */
export interface RenameSignal {
  op: "rename-signal";
  block: string;
  name: string;
  to: string;
  within: string;
}

/** A subsystem gets another name, also where it is the type of a block. */
export interface RenameSubsystem {
  op: "rename-subsystem";
  name: string;
  to: string;
}

/** A subsystem, within, runs on a condition, or no longer does. kind: enabled, triggered or
 * reset. by: the input, which is added unless it is there. */
export interface ConditionOperation {
  op: "condition" | "uncondition";
  kind: string;
  within: string;
  by?: string;
}

/** A block has a copy of its subsystem for each entry of its inputs. */
export interface ForEachOperation {
  op: "for-each";
  name: string;
  within: string;
}

/** Change the drawing of a sheet: `looks.BLOCK.facing`, `notes[0].text`; `notes` and `areas`
 * append. text: YAML; null removes the entry. */
export interface DrawOperation {
  op: "draw";
  path: string;
  text: string | null;
  within: string;
}

export interface GroupOperation {
  op: "group";
  name: string;
  names: string[];
  within: string;
}

// The lines first to last - 1 of the text, counted from 0, and what stands there instead.
export type LineChange = [number, number, string[]];

/** Replace lines of the text of the file, in their order. */
export interface TextOperation {
  op: "text";
  changes: LineChange[];
}

/** Make a slot of variants of a block of the whole diagram; choice: the name of what it was. */
export interface VaryOperation {
  op: "vary";
  name: string;
  choice: string;
}

/** Add a choice to a slot: of a type, or like another choice. */
export interface AddChoiceOperation {
  op: "add-choice";
  slot: string;
  choice: string;
  type?: string;
  like?: string;
}

export interface RenameChoiceOperation {
  op: "rename-choice";
  slot: string;
  choice: string;
  to: string;
}

/** fix: make a block of a slot again, which is one of its choices. */
export interface ChoiceOperation {
  op: "remove-choice" | "fix";
  slot: string;
  choice: string;
}

export type Operation = SetOperation | UnsetOperation | RenameParameter | RenameEntry | RenamePort | RemovePort | RenameState | RenameValue | RemoveState | MoveState | MoveItem | AppendOperation | AddOperation | RemoveOperation | RenameOperation | RetypeOperation | WireOperation | GroupOperation | SubsystemOperation | RenameSubsystem | RenameSignal | ConditionOperation | ForEachOperation | DrawOperation | WrapOperation | TextOperation | VaryOperation | AddChoiceOperation | RenameChoiceOperation | ChoiceOperation;

// do: "panels" {path}; do: "keep-panels" {path, panels}: the layout of the panels, the dashboard and
// the sliders that the user set up for a file. The server keeps them and does not read them.
export type Panels = Record<string, unknown>;

// do: "fits" {path, at, from: {block, port}, output: boolean}: for each port on the other side,
// "block.port", null where a wire fits, or the reason why not.
export type Fits = Record<string, string | null>;

// do: "unfit" {path, at, from: {block, port}, output: boolean}: for each type of which no port
// surely takes the wire, the reason.
export type Unfit = Record<string, string>;

/** do: "contents" {path} -> Content[]: the blocks of all sheets, to search in: the whole first,
 * then subsystem by subsystem. */
export interface Content {
  at: string;
  block: string;
  type: string;
  /** Those that have names. */
  ports: string[];
  /** As YAML in one line; long ones are cut. */
  parameters: Record<string, string>;
  /** Of a machine: the names of its states by their paths. */
  states?: Record<string, string>;
}

/** do: "text" {path, at}: the text of the file in which a sheet is written. */
export interface FileText {
  /** The file, from the project's root. */
  path: string;
  /** Of the text; "" where it is another file, which cannot be edited here. */
  revision: string;
  text: string;
}

/** do: "complete" {path, keys, kind, given, typed} -> Completion[]: what can be written in the
 * text. keys: the path of the mapping, list or value; kind: "key" or "value"; given: the texts of
 * the entries beside it; typed: what stands there already. */
export interface Completion {
  label: string;
  /** What it is: a unit, a type, "input". */
  detail: string;
  doc: string;
}

/** do: "models" {path}: files of the project that describe robots, with the section that names
 * each in that diagram. */
export interface ModelFile {
  path: string;
  name: string;
  text: string;
}

// The chart of a state machine, laid out. Lengths are in pixels at zoom 1.

/** The chart of a state machine, in place of blocks and wires. */
export interface Chart {
  /** What edits name: blocks.modes. */
  path: string;
  name: string;
  type: string;
  width: number;
  height: number;
  /** From the first on, so that states come before those in them. */
  states: ChartState[];
  transitions: ChartTransition[];
  /** Its full name in runs, with `*` for the numbers of copies. */
  block: string;
  regions: ChartRegion[];
  /** Whether the outermost states are all active together. */
  parallel: boolean;
  /** The paths of its arguments, outputs, variables and params, as edits name them. */
  values: string[];
  /** What else the machine has: arguments, outputs, variables, params, initial. */
  fields: Field[];
  /** What is wrong with it, and of no state or transition. */
  problems: Problem[];
}

/** States of which one is active at a time. */
export interface ChartRegion {
  /** The path of its outermost state, or of the machine. */
  path: string;
  /** The output with the number of the active one. */
  port: string;
}

export interface ChartState {
  /** What edits name: blocks.modes.states.operate. */
  path: string;
  /** Of the state around it, or of the machine. */
  parent: string;
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
  /** The height of the middle of its name. */
  head: number;
  /** Its number in the signal of its region; null with substates. */
  number: number | null;
  /** The path of its region. */
  region: string;
  /** How it is entered with the state around it: first, where that was left, always, or not. */
  entered: "first" | "history" | "together" | "";
  /** Whether it has substates, and whether these are all active together. */
  open: boolean;
  parallel: boolean;
  history: boolean;
  lines: ChartText[];
  fields: Field[];
  problems: Problem[];
}

/** A text at a height. */
export interface ChartText {
  text: string;
  y: number;
  /** The field of the state that it is of. */
  field: string;
}

export interface ChartTransition {
  /** What edits name: blocks.modes.transitions[2]. */
  path: string;
  index: number;
  /** Names of states. */
  sources: string[];
  target: string;
  when: string;
  do: string;
  /** A line for each state that it leaves; none where a state is not there. */
  lines: ChartLine[];
  fields: Field[];
  problems: Problem[];
}

/** From the right edge of a state along a row to the vertical line that leads to the target. */
export interface ChartLine {
  /** The path of the state that it leaves. */
  source: string;
  /** The text over it, with its number among those that leave the state. */
  when: string;
  row: number;
  start: number;
  text: number;
  lane: number;
  /** The tip of the arrow at the target, and its height. */
  end: number;
  head: number;
  /** The number of the colour, the same for all that lead to one state. */
  colour: number;
}

// Types of blocks and their parameters.

// The class of a block, by which it is drawn.
export type Look = "source" | "sink" | "function" | "continuous" | "sampled" | "subsystem" | "border" | "variant";

// The colours of areas and of blocks that have their own.
export type Colour = "red" | "orange" | "yellow" | "green" | "blue" | "violet" | "grey";

// The side to which the outputs of a block lead.
export type Facing = "right" | "down" | "left" | "up";

/** do: "types" -> BlockType[], by subjects in the order of lists. */
export interface BlockType {
  name: string;
  /** The heading under which it stands in docs/blocks.md and in the palette. */
  subject: string;
  summary: string;
  /** What other tools call it; found by search too. */
  elsewhere: string[];
  inputs: string[];
  outputs: string[];
  look: Look;
}

/** do: "form" {path, at, block} */
export interface Form {
  block: string;
  type: string;
  summary: string;
  description: string[];
  fields: Field[];
  ports: FormPort[];
}

/** A port of a block, as its form shows it. */
export interface FormPort {
  name: string;
  output: boolean;
  shape: string;
  unit: string;
  doc: string;
}

/** do: "kinds" {path, at, block}: on which conditions a subsystem runs, and whether it has
 * copies. block "": that of the sheet. */
export interface Kinds {
  block: string;
  /** The definition that conditions are edited in; null where it is of another file. */
  within: string | null;
  /** The sheet on which its block is. */
  sheet: string | null;
  /** How many blocks are of this definition. */
  used: number;
  inputs: string[];
  kinds: Kind[];
}

export interface Kind {
  kind: "enabled" | "triggered" | "reset" | "for_each";
  doc: string;
  /** Whether the subsystem is of this kind. */
  given: boolean;
  fields: Field[];
}

export interface Field {
  name: string;
  /** What "set" names. */
  path: string;
  doc: string;
  unit: string;
  /** "actions": an assignment on each line, y = 2*u. */
  kind: "number" | "integer" | "flag" | "choice" | "text" | "array" | "any" | "actions";
  choices: string[];
  /** Whether it is a text, such as a formula, or a list of them. */
  lines: boolean;
  /** The bounds that the file declares of a parameter of its own. */
  min?: number | null;
  max?: number | null;
  required: boolean;
  /** YAML text of the default; "" where there is none. */
  default: string;
  /** YAML text as the file has it; null where it does not. */
  text: string | null;
  /** Whether it can be changed while a run goes on, and its name for "tune". */
  tunable: string | null;
}

// Runs, and loops of `spart realtime`.

/** do: "run" {path, speed, T?, paused?}: speed: times real time, null for as fast as it goes;
 * paused: it begins paused at its first instant.
 * do: "step" {path, to: "event" | "tick" | "time", clock?, interval?, t?}: on to the next event,
 * the next tick of a clock (any without), or by an interval [s], as fast as it goes, then pause;
 * t: the time that is shown, from which it is counted.
 * do: "moment" {path, run, t, to, clock?, interval?, back?} -> number | null: such an instant of
 * the record after t, or before.
 * do: "changed" {path, run, t} -> AtInstant: what happened there.
 * do: "pause" | "resume" | "stop" {path}; do: "speed" {path, speed}.
 * do: "tune" {path, name, text}: from now on, of an ended run from the next one on; do: "keep"
 * {path} writes what was tuned -> Changed.
 * do: "push" {path, body, force, point?}: force (3,) [N] in the inertial frame on a body from now
 * on, by its place among the recording's bodies, its name, or "plant/name"; at a point (3,) [m] in
 * the inertial frame (its centre of mass without); zero lets go.
 * do: "continue" {path, run, t, speed, T?, states?, tuned?}: a new run from time t of an earlier
 * one; states: vectors of blocks in place of what they were, {[block]: number[]}; tuned: {[name]:
 * text}.
 * do: "states" {path, run, t} -> State[]: what "continue" may replace, as it was at time t.
 * do: "pushed" {path, run, t} -> string[]: the plants on which a push acts at time t; "continue"
 * begins without it.
 * do: "tunables" {path, run} -> Tunable[]: all that "tune" takes; path also "loop:NAME".
 * do: "runs" {path} -> Run[].
 * do: "values" {path, at, run, t, names?} -> {[signal]: Value}: of the wires of a sheet, or of
 * signals by name.
 * do: "suggest" {path, run, signal} -> Suggested: claims that hold for a signal of the run.
 * do: "signals" {path, run, names, from?, to?} -> binary Rows, thinned for drawing; of a part of
 * the run from one time to another, with a row before and after.
 * do: "motion" {path, run} -> the recording that viewer/src/recording.ts reads; run null: the
 * plants where they start. GET /download?path=&run=&kind=npz|csv|mcap|html|live.html|svg */
export interface Run {
  run: number;
  label: string;
  state: "preparing" | "running" | "paused" | "ended" | "failed";
  t: number;
  start: number;
  /** None of a loop, which goes on until it is ended. */
  T: number | null;
  speed: number | null;
  /** What scopes show first: groups of signals, as the diagram's scopes have them. */
  scopes: Scope[];
  /** Everything that can be plotted. */
  signals: Signal[];
  /** Values that were tuned, by name. Of an ended run also those for the next one. */
  tuned: Record<string, string>;
  /** Those that differ from the file's values, which these are; null where the file has none. The
   * next run of the file begins with the tuned ones. */
  carried: Record<string, string | null>;
  /** What is left of an earlier run: all of it, or the signals that were kept. */
  kept: "whole" | "signals";
  /** Where and why it has stopped before its end: "stopped at 3.2 s". */
  stopped: string | null;
  /** What it does instead of stepping: "starting", "tracing", "compiling". */
  doing: string | null;
  warnings: string[];
  problem: Problem | null;
  clocks: RunClock[];
  /** Why and where it is paused, by a step or a breakpoint. */
  paused: Paused | null;
  /** Of each breakpoint that is enabled: how often it was met, and why it cannot be watched. */
  breakpoints: Record<string, Watched>;
}

export interface RunClock {
  name: string;
  /** "every 0.1 s". */
  text: string;
}

/** t: the instant that is meant [s]; the run itself is there, or at the end of the step of its
 * solver. text: what happened, or the values that met the breakpoint. */
export interface Paused {
  t: number;
  why: "start" | "event" | "tick" | "time" | "breakpoint";
  text: string;
  condition: string | null;
}

export interface Watched {
  hits: number;
  problem: string | null;
}

/** A condition at which runs pause: "norm(plant.qm) > 1", "modes.state == 'heating'", a number
 * for its crossings of zero, or "event(block)".
 * do: "breakpoints" {path} -> Breakpoint[]; do: "set-breakpoints" {path, breakpoints} ->
 * Breakpoint[]: all of them; kept for the file, and taken by a run that goes on. */
export interface Breakpoint {
  condition: string;
  enabled: boolean;
}

/** What happened at a time of a run, and what it changed. */
export interface AtInstant {
  t: number;
  events: BlockEvent[];
  /** The clocks that ticked, as texts. */
  ticks: string[];
  changes: Change[];
  /** Changes that are left out. */
  more: number;
}

export interface BlockEvent {
  block: string;
  what: string;
}

/** A state that was reset or moved on, the active state of a machine, or an output that jumped.
 * name: of the state or the port. */
export interface Change {
  kind: "state" | "mode" | "output";
  block: string;
  name: string;
  before: string;
  after: string;
}

/** A group of signals that are shown together. */
export interface Scope {
  title: string;
  signals: string[];
}

export interface Signal {
  name: string;
  /** Of one sample: [] for a number. */
  shape: number[];
  unit: string;
  /** Labels of the components, where a scope gives them. */
  labels: string[];
  /** Names of the components, such as the joints, where they have any. */
  entries: string[];
  /** Kept while the run goes on, and so told by "rows". */
  live: boolean;
}

/** The state vector of a block at a time. */
export interface State {
  block: string;
  values: number[];
  /** Names of its numbers, where they have any. */
  labels: string[];
}

/** do: "active" {path, run, t, block} -> Active[]: the active states of a machine at a time, one
 * for each copy where its name has `*`. By region, "state" of the machine itself: their numbers,
 * 0 for none, and those that were active before the last change, null where none is known. */
export interface Active {
  numbers: Record<string, number>;
  left: Record<string, number | null>;
}

/** A parameter that can be changed while a run goes on. */
export interface Tunable {
  name: string;
  /** As YAML: the value that the run has now, and the one that it began with. */
  text: string;
  first: string;
  unit: string;
  doc: string;
  /** Its bounds, where it has some. */
  min: number | null;
  max: number | null;
  /** Of a parameter of the file: those of blocks that take their value from it, such as "ctrl.kp";
   * they are not listed by themselves. */
  used: string[];
}

export interface Value {
  text: string;
  shape: string;
  unit: string;
  /** "continuous", or the clock with its period. */
  rate: string;
}

/** A signal of rows, and how many numbers of each row are its. */
export interface SignalWidth {
  name: string;
  width: number;
}

/** The header of a binary message. Each row is the time and the numbers of all signals in turn.
 * n: the request that it answers; without it rows are told as a run goes on. */
export interface Rows {
  tell: "rows";
  n?: number;
  path: string;
  run: number;
  signals: SignalWidth[];
  rows: number;
  /** Numbers of a row besides its time. */
  width: number;
  /** Of an answer: whether the run has more rows. */
  thinned?: boolean;
}

/** The header of poses of a running run, for 3-D: each row is the time, then for each body of
 * the recording its position (3) and quaternion (4, scalar last). */
export interface Poses {
  tell: "poses";
  path: string;
  run: number;
  bodies: number;
  rows: number;
}

/** do: "loops" -> Loop[]; do: "attach" {loop} -> Run with signals; rows are then told with path
 * "loop:NAME"; do: "tune" {path: "loop:NAME", ...}; do: "watch" {loop, names}; do: "detach". */
export interface Loop {
  name: string;
  pid: number;
  diagram: string;
}

// Tests: the section `expect:`.

/** do: "claims" {path}: what the file claims of its runs, and its test. Claims are edited by
 * "edit": append, set and unset of their paths.
 * do: "test" {path, update?} -> Test: does what `spart test FILE` does, for the file as it is on
 * disk; with update what `spart test --update` does: baselines that are not there are recorded,
 * others are not written before "record".
 * do: "stop-test" {path}. do: "record" {path} -> Test: writes the baselines that would change. A
 * test ends when no page has its file open any more. */
export interface Claims {
  /** Whether there is a section `expect:`; without one there is no test. */
  tested: boolean;
  claims: Claim[];
  /** What can be claimed. */
  kinds: ClaimKind[];
  test: Test | null;
}

export interface Claim {
  /** What "set" and "unset" name: "expect.final[1]", "expect.baseline". */
  path: string;
  kind: string;
  /** "" where it is not about one signal. */
  signal: string;
  /** Of the signal. */
  unit: string;
  line: number;
  /** The kind with all values, by which a test tells what it has found of it. */
  key: string;
  fields: Field[];
}

export interface ClaimKind {
  kind: string;
  doc: string;
  /** Whether it is about a signal, and there may be several. */
  several: boolean;
  /** Their paths are their names. */
  fields: Field[];
}

export interface Test {
  state: "running" | "ended" | "stopped" | "failed";
  update: boolean;
  /** Of the text that is tested. */
  revision: string;
  /** The case that runs, and how far it is: seconds of its run, or runs of its sweep. */
  running: string;
  done: number;
  all: number;
  unit: "s" | "runs";
  /** Those that have ended: the diagram as it is, and its other variants where `each_variant`
   * says so. */
  cases: TestCase[];
  problem: Problem | null;
}

export interface TestCase {
  name: string;
  passed: boolean;
  seconds: number;
  findings: Finding[];
  /** Why it could not be checked. */
  faults: Problem[];
  warnings: string[];
  /** The baseline that is or would be recorded. */
  change: BaselineChange | null;
}

/** What a test would write to the file of a baseline, and whether it has. */
export interface BaselineChange {
  file: string;
  lines: string[];
  written: boolean;
}

/** What a test has found of a claim, or of one of the signals of a baseline. */
export interface Finding {
  /** The `key` of the claim; "" for the run itself. */
  key: string;
  kind: string;
  verdict: "passed" | "failed" | "warned";
  /** The element that comes closest to the limit, or is farthest beyond it, and its time [s]. */
  signal: string;
  t: number | null;
  /** Got, when, and expected, in words. */
  message: string;
}

// For each kind of claim, the texts of its values.
export type Suggested = Record<string, Record<string, string>>;

// Jobs: sweeps, comparisons and exports, as commands of `spart` in processes of their own.

/** do: "job-options" -> JobKind[]: the commands that the page can give. */
export interface JobKind {
  /** What "job" names. */
  kind: string;
  /** "export c". */
  command: string;
  title: string;
  /** Whether it is an export. */
  export: boolean;
  /** File types to choose from; the first is the usual one. */
  formats: string[];
  options: JobOption[];
}

/** An option of a command, as its help has it. */
export interface JobOption {
  /** Without "--". */
  name: string;
  doc: string;
  /** The word for its value: "PATH=VALUE". */
  value: string;
  choices: string[];
  /** Whether it has no value. */
  flag: boolean;
  /** Whether it may be repeated. */
  several: boolean;
  required: boolean;
  default: string;
}

/** do: "job" {path, kind, options, format?, other?} -> Job: does what the command does for the
 * file as it is on disk, in a folder of its own. options: texts, lists of texts, or true, by name.
 * other: a second diagram, for "compare".
 * do: "jobs" {path} -> Job[]: those that are kept. do: "stop-job" {job}. do: "forget-job" {job}.
 * do: "resume-job" {job} -> Job: goes on with a sweep that was stopped.
 * Jobs go on when the page is closed; they end with the studio. */
export interface Job {
  job: number;
  path: string;
  kind: string;
  title: string;
  state: "running" | "ended" | "stopped" | "failed";
  /** How far it is: seconds of a run, or runs of a sweep; 0 of 0 where that is not known. */
  done: number;
  all: number;
  unit: "s" | "runs";
  /** The last lines of its output; those that begin with "! " are messages and errors. */
  lines: string[];
  /** The exit code of the command. */
  code: number | null;
  /** Once it is over: GET /job?job=...&file=...; without a file all of them in one archive, and
   * with &view=1 to look at. */
  files: JobFile[];
  problem: Problem | null;
}

/** A file of a job: its path in the job's folder, and its size [bytes]. */
export interface JobFile {
  name: string;
  size: number;
}

/** do: "sweep-table" {job, start, sort?, down?}: rows of the table of a sweep, one for each run.
 * do: "sweep-run" {job, run, speed?} -> Run: starts a run with the values of one of the sweep. */
export interface SweepTable {
  columns: string[];
  /** Those of the columns that are metrics. */
  metrics: string[];
  /** null is no value. */
  rows: ((number | string | boolean | null)[])[];
  /** The number of the first row that is here, of all that there are. */
  start: number;
  count: number;
  planned: number;
  failed: number;
}

// Differences of the file from its versions in git, and from other files.

export type MarkState = "added" | "removed" | "changed";

/** do: "revisions" {path}: what the file can be compared with. */
export interface Revisions {
  /** The commits that have changed it, the latest first. */
  commits: Commit[];
  /** Why there are none: no git, no repository, never committed. */
  why: string | null;
}

export interface Commit {
  id: string;
  /** ISO 8601. */
  when: string;
  author: string;
  subject: string;
}

/** do: "changes" {path, commit?, other?}: what has changed in the file as it is on disk, since
 * one of its commits, or from another file of the project. */
export interface Changes {
  old: string;
  /** Of the text that was compared. */
  revision: string;
  groups: ChangeGroup[];
  /** By the `within` of a sheet. */
  sheets: Record<string, Marks>;
  notes: string[];
}

/** Changes under one heading: "blocks", "wires". */
export interface ChangeGroup {
  heading: string;
  changes: ChangeLine[];
}

export interface ChangeLine {
  sign: "+" | "-" | "~" | ">";
  /** What has changed: "law.kp". */
  what: string;
  /** Empty where it was not there, or is not there any more. */
  before: string;
  after: string;
  unit: string;
  /** The sheet that shows it, and the block; null where no block does. */
  at: string | null;
  block: string | null;
}

/** What is marked on a sheet. */
export interface Marks {
  /** Those that are there. */
  blocks: Record<string, MarkState>;
  /** Those that are gone. */
  gone: GoneBlock[];
  /** Wires that came, by source and target as in the file. */
  wires: MarkedWire[];
  /** Wires that are gone, between blocks of the sheet or gone ones. */
  lost: LostWire[];
}

export interface GoneBlock {
  name: string;
  type: string;
}

export interface MarkedWire {
  source: string;
  target: string;
}

/** A wire that is gone: its ends in words, and their blocks. */
export interface LostWire {
  source: string;
  target: string;
  start: string;
  end: string;
}
