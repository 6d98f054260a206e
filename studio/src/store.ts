// What the page shows: one state, changed by `patch`, read in components by `useStudio`.

import { useSyncExternalStore } from "react";

import { FIRST as FIRST_LAYOUT, type Layout } from "./panels/layout";
import type { BlockType, Changes, Fits, Opened, Panels, Point, Problem, Project, Sheet, SheetWire } from "./protocol";
import { Connection, type LinkState } from "./socket";

export interface Notice {
  id: number;
  kind: "note" | "fault";
  text: string;
  hint?: string;
}

/** A wire that is being drawn: from where, and where it fits. */
export interface Drawing {
  block: string;
  port: string;
  output: boolean;
  fits: Fits | null;
}

/** Where a block is added: a place on the sheet, and the port that it is wired to. */
export interface Adding {
  place: [x: number, y: number] | null;
  from: Drawing | null;
}

/** What is shown beside the diagram. */
export type Panel = "scopes" | "motion" | "dashboard" | "tune" | "debug" | "tests" | "runs" | "jobs" | "changes" | "loops";

/** A note or an area that is being written; index: in the file, null for a new one, which lies at a place or
 * around blocks. */
export interface Writing {
  of: "note" | "area";
  index: number | null;
  at?: Point;
  blocks?: readonly string[];
}

export type Dialog = "colour" | "help" | "search" | "group" | "wire" | "retype" | "kind" | "export" | "sweep" | "fit" | "tune" | "optimize" | "compare" | "panels";

export interface State {
  link: LinkState;
  project: Project | null;
  /** The file that is open; null where the project's list is shown. */
  opened: Opened | null;
  /** The sheet that is shown: the whole file or a subsystem, `sheet.at`. */
  sheet: Sheet | null;
  /** Names of the selected blocks of the sheet. */
  selection: readonly string[];
  /** Selected wires, by `wireKey`. */
  wires: readonly string[];
  /** Selected notes and areas, "note 0" and "area 1" by their numbers in the file. */
  marks: readonly string[];
  writing: Writing | null;
  /** The menu of commands, and where it is on the page. */
  menu: { x: number; y: number } | null;
  /** The wire or the block that gets what is being dragged. */
  onto: string | null;
  /** Whether wires show the names of their signals. */
  names: boolean;
  /** Whether the whole sheet is shown in a corner. */
  minimap: boolean;
  types: readonly BlockType[];
  /** Mistakes that the value being typed would make. */
  trial: readonly Problem[];
  drawing: Drawing | null;
  adding: Adding | null;
  /** The block whose name is being changed in place. */
  renaming: string | null;
  /** The block that was added last: Tab leads from it to its parameters. */
  fresh: string | null;
  /** Whether its subsystem was made with it, and takes its name. */
  defines: boolean;
  /** The field of the form to which the focus goes; "" is the first that needs a value. */
  filling: string | null;
  dialog: Dialog | null;
  /** Whether the mistakes are listed. */
  listing: boolean;
  /** The panel that was gone to last. */
  panel: Panel;
  /** The text beside the sheet: that of the whole file, or of the selected block. */
  code: "file" | "block" | null;
  /** Where the panels are. */
  layout: Layout;
  /** Panels in windows of their own. */
  windows: readonly Panel[];
  /** The panel that has the whole page. */
  maximised: Panel | null;
  /** What is kept for the file besides it: the layout, and what parts of the page read by themselves. */
  kept: Panels;
  /** The signal about which a claim is to be written. */
  claiming: string | null;
  /** The beginning of the condition of a breakpoint to be set. */
  breaking: string | null;
  /** The wire under the pointer, and where that is on the page. */
  hover: { wire: SheetWire; x: number; y: number } | null;
  /** The blocks to bring into view; empty for all. */
  reveal: readonly string[] | null;
  /** What has changed in the file since a commit, or from another file; null where it is not compared. */
  changes: Changes | null;
  /** The block that is gone which is to be brought into view. */
  gone: string | null;
  /** The file has changed outside and cannot be read. */
  conflict: Problem | null;
  notices: readonly Notice[];
  /** What has just happened, in words. */
  said: string;
}

const FIRST: State = {
  link: "open",
  project: null,
  opened: null,
  sheet: null,
  selection: [],
  wires: [],
  marks: [],
  writing: null,
  menu: null,
  onto: null,
  names: false,
  minimap: false,
  types: [],
  trial: [],
  drawing: null,
  adding: null,
  renaming: null,
  fresh: null,
  defines: false,
  filling: null,
  dialog: null,
  listing: false,
  panel: "scopes",
  code: null,
  layout: FIRST_LAYOUT,
  windows: [],
  maximised: null,
  kept: {},
  claiming: null,
  breaking: null,
  hover: null,
  reveal: null,
  changes: null,
  gone: null,
  conflict: null,
  notices: [],
  said: "",
};

let state = FIRST;
const listeners = new Set<() => void>();

export function now(): State {
  return state;
}

export function patch(change: Partial<State>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

/** Call the listener with each change; returns what ends it. */
export function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A part of the state, in a component. select must return the same object while nothing changed. */
export function useStudio<T>(select: (state: State) => T): T {
  return useSyncExternalStore(watch, () => select(state));
}

/** The one connection to the server. */
export const connection = new Connection(address(), isLocked);

/** Whether the server is there and refuses this browser. */
async function isLocked(): Promise<boolean> {
  return fetch("/", { cache: "no-store" }).then(({ status }) => status === 403, () => false);
}

function address(): string {
  if (typeof location === "undefined") return "";
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`;
}

export function pathOf(at: string, block: string): string {
  return at ? `${at}/${block}` : block;
}
