// What a person can do: requests to the server, and the state after them.

import { changedSheet, kept } from "./canvas/scene";
import { FIRST } from "./panels/layout";
import type { Changed as Answered, LineChange, Operation, Opened, Panels, Point, Problem, Sheet } from "./protocol";
import { Refused } from "./socket";
import { connection, now, patch, type Notice } from "./store";

/** The file and its sheet after a change. */
export interface Changed {
  opened: Opened;
  sheet: Sheet;
}

const STAYS = 6000;
let notices = 0;

/** Show a line over the sheet for a while; faults stay until they are closed, or something that was
 * begun after them succeeds. */
export function notify(text: string, kind: Notice["kind"] = "note", hint?: string): void {
  const id = ++notices;
  patch({ notices: [...now().notices.filter((one) => one.text !== text).slice(-3), { id, kind, text, hint }], said: text });
  if (kind === "note") setTimeout(() => dismiss(id), STAYS);
}

export function dismiss(id: number): void {
  keepNotices(({ id: other }) => other !== id);
}

/** Keep some of the notices; what the others said is not said any more. */
function keepNotices(wanted: (notice: Notice) => boolean): void {
  const { notices: all, said } = now();
  const left = all.filter(wanted);
  if (left.length === all.length) return;
  const isGone = all.some(({ text }) => text === said) && !left.some(({ text }) => text === said);
  patch({ notices: left, said: isGone ? "" : said });
}

/** Do something, and show why where it is refused. */
export async function attempt<T>(what: () => Promise<T>): Promise<T | null> {
  const before = notices;
  try {
    const found = await what();
    keepNotices(({ kind, id }) => kind === "note" || id > before);
    return found;
  } catch (error) {
    const problem: Problem = error instanceof Refused ? error.problem : { message: String(error) };
    notify(problem.message, "fault", problem.hint);
    return null;
  }
}

// --- files and sheets ------------------------------------------------------------------------

/** Go to the list of diagrams. */
export async function showProject(): Promise<void> {
  closeFile();
  const project = await attempt(() => connection.ask("project"));
  if (project) patch({ project, opened: null, sheet: null, ...NOTHING });
}

/** Open a file at a sheet. */
export async function openFile(path: string, at = ""): Promise<void> {
  await attempt(async () => begin(await connection.ask("open", { path }), at));
}

/** Make a file with an empty diagram, and open it. Answers whether it is there. */
export async function newFile(path: string, name: string): Promise<boolean> {
  const made = await attempt(async () => {
    await begin(await connection.ask("new", { path, name }), "");
    return true;
  });
  return made !== null;
}

async function begin(opened: Opened, at: string): Promise<void> {
  const { path } = opened;
  const isNew = now().opened?.path !== path;
  const [sheet, panels] = await Promise.all([
    connection.ask("sheet", { path, at }),
    isNew ? connection.ask("panels", { path }).catch((): Panels => ({})) : null,
  ]);
  const arranged = panels?.["layout"];
  const layout = arranged ? (await import("./panels/all")).readLayout(arranged) : FIRST;
  if (isNew) closeFile();
  patch({ opened, sheet, conflict: null, ...NOTHING, ...(isNew && { said: "" }), ...(panels && { kept: panels, layout, maximised: null, names: panels["names"] === true, minimap: panels["minimap"] === true }) });
}

function closeFile(): void {
  const path = now().opened?.path;
  if (path) void connection.ask("close", { path }).catch(() => undefined);
}

/** Write the field that is typed in, or say that nothing is left to save. */
export function save(): void {
  const { opened } = now();
  const typedIn = document.activeElement;
  if (typedIn instanceof HTMLElement && typedIn.matches("[data-draft]")) typedIn.blur();
  else if (opened) patch({ said: `${opened.path}: every edit is written already` });
}

/** Show another sheet of the open file, with some of its blocks selected. */
export async function showSheet(at: string, selection: readonly string[] = []): Promise<void> {
  const { opened } = now();
  if (!opened) return;
  const sheet = await attempt(() => connection.ask("sheet", { path: opened.path, at }));
  if (sheet && now().opened?.path === opened.path) patch({ sheet, ...NOTHING, selection });
}

/** Go to a block, wherever it is. */
export async function reveal(at: string, name: string): Promise<void> {
  if (now().sheet?.at !== at) await showSheet(at);
  patch({ selection: [name], wires: [], reveal: [name] });
}

/** Go to what is wrong: a block, or a state or transition of a machine. */
export async function revealProblem(block: string, path = ""): Promise<void> {
  const cut = block.lastIndexOf("/");
  const isInside = /\.(states|transitions)\b/.test(path);
  if (isInside && now().sheet?.at !== block) await showSheet(block);
  const { chart } = now().sheet ?? {};
  if (!isInside || !chart) return reveal(block.slice(0, Math.max(cut, 0)), block.slice(cut + 1));
  const homes = [...chart.states, ...chart.transitions].filter(({ path: own }) => path === own || path.startsWith(`${own}.`));
  const found = homes.slice(-1).map(({ path: own }) => own);
  patch({ selection: found, wires: [], reveal: found });
}

/** Go up to the sheet that the present one is in; its block is selected there. */
export function leave(): void {
  const at = now().sheet?.at;
  if (!at) return;
  const cut = at.lastIndexOf("/");
  void showSheet(at.slice(0, Math.max(cut, 0)), [at.slice(cut + 1)]);
}

const NOTHING = {
  selection: [], wires: [], marks: [], writing: null, menu: null, onto: null, trial: [], drawing: null, adding: null, renaming: null, filling: null,
  dialog: null, hover: null, reveal: null,
} as const;

// --- changes ------------------------------------------------------------------------------------

let last: Promise<unknown> = Promise.resolve();

type Change = "edit" | "undo" | "redo" | "place" | "tidy" | "choose" | "keep";

/** Requests that change a file go one after the other, each with the revision before it. */
function change(what: Change, given: () => object | null): Promise<Changed | null> {
  const next = last.then(async () => {
    const { opened, sheet } = now();
    if (!opened || !sheet) return null;
    const more = given();
    if (!more) return null;
    const about = { path: opened.path, at: sheet.at, version: sheet.version, ...more };
    const changed = await attempt(async () => wholeOf(await connection.ask(what, about), sheet));
    if (changed && now().opened?.path === changed.opened.path) {
      show(changed);
      if (changed.opened.undo) patch({ said: `Done: ${changed.opened.undo}` });
    }
    return changed;
  });
  last = next;
  return next;
}

/** What is to be done before all is written: for editors, what is typed in them. */
export const unwritten = new Set<() => Promise<unknown>>();

/** Waits until what was changed is written. */
export async function written(): Promise<void> {
  for (const write of unwritten) await write();
  await last;
}

/** The answer with the sheet as a whole, where what has changed of it was sent. */
async function wholeOf({ opened, sheet }: Answered, before: Sheet): Promise<Changed> {
  if (!("base" in sheet)) return { opened, sheet };
  const present = [now().sheet, before].find((one) => one?.version === sheet.base && one.at === sheet.at);
  return { opened, sheet: present ? changedSheet(present, sheet) : await connection.ask("sheet", { path: opened.path, at: sheet.at }) };
}

function show({ opened, sheet }: Changed): void {
  const present = now().sheet;
  const there = new Set(namesOn(sheet));
  const selection = now().selection.filter((name) => there.has(name));
  const renaming = there.has(now().renaming ?? "") ? now().renaming : null;
  if (present?.at === sheet.at) patch({ opened, sheet: kept(present, sheet), selection, renaming, trial: [], conflict: null });
  else patch({ opened });
}

/** What can be selected on a sheet: blocks by their names, states and transitions by their paths. */
function namesOn({ blocks, chart }: Sheet): string[] {
  return chart ? [...chart.states, ...chart.transitions].map(({ path }) => path) : blocks.map(({ name }) => name);
}

export function edit(...operations: Operation[]): Promise<Changed | null> {
  return change("edit", () => ({ revision: now().opened?.revision, operations }));
}

/** Replace lines of the text of a revision; nothing is done where the file has another by then. */
export async function rewrite(revision: string, changes: LineChange[]): Promise<Changed | null> {
  const operations: Operation[] = [{ op: "text", changes }];
  const changed = await change("edit", () => (now().opened?.revision === revision ? { revision, operations } : null));
  const at = now().sheet?.at;
  if (changed && at !== undefined && at !== changed.sheet.at && at.startsWith(changed.sheet.at)) await showSheet(changed.sheet.at);
  return changed;
}

/** As `edit`, with blocks of the sheet moved to places in the same step. */
export function editAndPlace(places: Record<string, Point>, ...operations: Operation[]): Promise<Changed | null> {
  return change("edit", () => ({ revision: now().opened?.revision, operations, places }));
}

export async function undo(): Promise<void> {
  await last; // what has just been done may not have been answered
  const what = now().opened?.undo;
  if (what && (await change("undo", () => ({})))) patch({ said: `Undone: ${what}`, ...seenWhole(what) });
}

export async function redo(): Promise<void> {
  await last;
  const what = now().opened?.redo;
  if (what && (await change("redo", () => ({})))) patch({ said: `Done again: ${what}`, ...seenWhole(what) });
}

/** Where all blocks have moved, all of them are shown. */
function seenWhole(what: string): { reveal?: readonly string[] } {
  return what === TIDY ? { reveal: [] } : {};
}

const TIDY = "tidy";

/** Put blocks at places, which are of the picture and not of the file. */
export function place(places: Record<string, Point>): Promise<Changed | null> {
  return change("place", () => ({ places }));
}

export async function tidy(): Promise<void> {
  if (await change("tidy", () => ({}))) patch(seenWhole(TIDY));
}

export function choose(slot: string, choice: string): Promise<Changed | null> {
  return change("choose", () => ({ slot, choice }));
}

/** Write what was tuned in the run into the file. */
export function keepTuned(): Promise<Changed | null> {
  return change("keep", () => ({}));
}

/** The mistakes that the diagram would have after operations, or why they are refused; nothing is
 * written. */
export async function tried(...operations: Operation[]): Promise<Tried> {
  const { opened, sheet } = now();
  if (!opened || !sheet) return { problems: [] };
  const { path, revision } = opened;
  try {
    const about = { path, at: sheet.at, revision, operations };
    return await connection.ask("try", about);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { problems: [error.problem], refused: error.problem };
  }
}

export interface Tried {
  problems: Problem[];
  /** Whether it adds no mistake, apart from inputs without a wire. */
  right?: boolean;
  refused?: Problem;
}

// --- what the server tells -------------------------------------------------------------------------

/** Open the connection, and follow what is told about the open file. */
export function start(): void {
  connection.onState = (link) => {
    patch({ link });
    if (link === "open") void greet();
  };
  for (const event of ["focus", "online", "pageshow"]) addEventListener(event, () => connection.wake());
  document.addEventListener("visibilitychange", () => document.hidden || connection.wake());
  connection.hear((told) => {
    if (!("path" in told) || told.path !== now().opened?.path) return;
    if (told.tell === "conflict") patch({ conflict: told.problem, said: told.problem.message });
    if (told.tell === "changed") void reload(told.opened);
  });
  addEventListener("popstate", () => void follow());
  connection.open();
}

async function greet(): Promise<void> {
  const { opened, sheet } = now();
  if (opened) await meetAgain(opened.path, sheet?.at);
  else {
    const named = location.hash ? null : await attempt(() => connection.ask("named"));
    if (named) await openFile(named);
    else await follow();
  }
  // All diagrams are read for their list, so that it is asked for where it is shown.
  if (!now().opened) {
    const project = await attempt(() => connection.ask("project"));
    if (!project) return;
    patch({ project });
  }
  if (now().types.length) return;
  void attempt(async () => patch({ types: await connection.ask("types") })); // takes a while at first
}

/** Called when the file that is shown was opened again, as the connection had been lost. */
export const metAgain = new Set<() => void>();

async function meetAgain(path: string, at = ""): Promise<void> {
  await openFile(path, at);
  for (const listener of metAgain) listener();
}

async function reload(opened: Opened): Promise<void> {
  const at = now().sheet?.at ?? "";
  const lost = now().opened?.undo && !opened.undo;
  const isNew = now().opened?.revision !== opened.revision;
  patch({ opened, conflict: null });
  const answer = await connection.ask("sheet", { path: opened.path, at }).catch(() => null);
  if (answer && now().opened?.path === opened.path) show({ opened, sheet: answer });
  else await showSheet("");
  const more = lost ? "; what was done here before cannot be undone any more" : "";
  if (isNew) notify(`${opened.path} has changed outside and was read again${more}`);
}

// --- the address: #path or #path::at -------------------------------------------------------------------

/** What the address names: a file and its sheet. */
export function placeOf(hash: string): { path: string; at: string } | null {
  const [path = "", at = ""] = decodeURI(hash.replace(/^#/, "")).split("::");
  return path ? { path, at } : null;
}

export function hashOf(path: string, at: string): string {
  return `#${encodeURI(at ? `${path}::${at}` : path)}`;
}

async function follow(): Promise<void> {
  const wanted = placeOf(location.hash);
  const { opened, sheet } = now();
  if (!wanted) {
    if (opened) await showProject();
  } else if (wanted.path !== opened?.path) await openFile(wanted.path, wanted.at);
  else if (wanted.at !== sheet?.at) await showSheet(wanted.at);
}
