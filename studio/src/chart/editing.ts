// Changes of a state machine: states, transitions, and their order.

import { edit, notify } from "../actions";
import { freeName } from "../canvas/names";
import type { Changed, Chart, ChartState, ChartTransition, Operation, Point } from "../protocol";
import { now, patch } from "../store";

/** The chart that is shown, where it can be edited; else what is in the way is told. */
export function editable(): Chart | null {
  const { sheet } = now();
  if (!sheet?.chart) return null;
  if (sheet.within !== null) return sheet.chart;
  notify("This machine is of another file: open that file to edit it", "fault");
  return null;
}

export function stateAt(chart: Chart, path: string | undefined): ChartState | undefined {
  return chart.states.find((state) => state.path === path);
}

export function transitionAt(chart: Chart, path: string | undefined): ChartTransition | undefined {
  return chart.transitions.find((one) => one.path === path);
}

export function siblings(chart: Chart, parent: string): ChartState[] {
  return chart.states.filter((state) => state.parent === parent);
}

/** The only selected state, or transition. */
export function selectedState(): ChartState | undefined {
  const { sheet, selection } = now();
  return sheet?.chart && selection.length === 1 ? stateAt(sheet.chart, selection[0]) : undefined;
}

export function selectedTransition(): ChartTransition | undefined {
  const { sheet, selection } = now();
  return sheet?.chart && selection.length === 1 ? transitionAt(sheet.chart, selection[0]) : undefined;
}

/** The innermost state at a point. */
export function stateUnder(chart: Chart, [x, y]: Point, but = ""): ChartState | undefined {
  return chart.states.filter(({ path, ...box }) =>
    x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height && !isWithin(path, but)).at(-1);
}

/** Whether a state is another one, or in it. */
export function isWithin(path: string, other: string): boolean {
  return other !== "" && (path === other || path.startsWith(`${other}.`));
}

// --- states --------------------------------------------------------------------------------------

/** Add a state into another, or the machine, perhaps with a transition from a state. */
export async function addState(parent?: string, from?: ChartState): Promise<void> {
  const chart = editable();
  if (!chart) return;
  const holder = parent ?? chart.path;
  const name = freeName("state1", chart.states.map((state) => state.name));
  const path = `${holder}.states.${name}`;
  const beside = siblings(chart, holder);
  const state = stateAt(chart, holder);
  const isParallel = state ? state.parallel : chart.parallel;
  const isFirstOfTwo = beside.length === 1 && !isParallel && !hasInitial(chart, holder);
  const operations: Operation[] = [{ op: "set", path, text: "{}" }];
  if (isFirstOfTwo) operations.push({ op: "set", path: `${holder}.initial`, text: beside[0]!.name });
  if (from) operations.push(leads(chart, from.name, name));
  if (await edit(...operations)) {
    patch({ selection: [path], renaming: path, fresh: path, reveal: [path], said: `${name} added` });
  }
}

function hasInitial(chart: Chart, holder: string): boolean {
  const fields = stateAt(chart, holder)?.fields ?? chart.fields;
  return fields.some(({ name, text }) => name === "initial" && text !== null);
}

export async function renameState({ path, name }: ChartState, to: string): Promise<Changed | null> {
  patch({ renaming: null });
  if (!to || to === name || !editable()) return null;
  const done = await edit({ op: "rename-state", path, to });
  const renamed = path.slice(0, -name.length) + to;
  if (done) patch({ selection: [renamed], fresh: now().fresh === path ? renamed : null, said: `${name} is now ${to}` });
  return done;
}

/** Give an input, an output, a variable or a parameter of the machine another name, with its uses. */
export async function renameValue(path: string, to: string): Promise<void> {
  if (editable()) await edit({ op: "rename-value", path, to });
}

/** Remove the selected states and transitions. */
export async function removeSelected(): Promise<void> {
  const { selection } = now();
  const chart = editable();
  if (!chart || selection.length === 0) return;
  const states = selection.filter((path) => stateAt(chart, path) && !selection.some((other) => other !== path && isWithin(path, other)));
  const indices = chart.transitions.filter(({ path }) => selection.includes(path)).map(({ index }) => index);
  const operations: Operation[] = [
    ...indices.sort((a, b) => b - a).map((index): Operation => ({ op: "unset", path: `${chart.path}.transitions[${index}]` })),
    ...states.map((path): Operation => ({ op: "remove-state", path })),
  ];
  if (await edit(...operations)) patch({ selection: [] });
}

/** Put a state into another, or the machine, before one there or at the end. */
export async function moveState(state: ChartState, into: string, before?: string): Promise<Changed | null> {
  if (!editable()) return null;
  const done = await edit({ op: "move-state", path: state.path, into, ...(before ? { before } : {}) });
  if (done) patch({ selection: [`${into}.states.${state.name}`] });
  return done;
}

/** Where a state that is dropped at a height comes among others: before which one. */
export function placeAmong(chart: Chart, parent: string, state: ChartState, y: number): string | undefined {
  return siblings(chart, parent).find((one) => one.path !== state.path && one.y + one.height / 2 > y)?.name;
}

/** Move the selected state or transition up or down among its own. */
export async function reorderSelected(by: 1 | -1): Promise<void> {
  const chart = editable();
  const state = selectedState();
  const transition = selectedTransition();
  if (!chart) return;
  if (state) {
    const names = siblings(chart, state.parent).map(({ name }) => name);
    const to = names.indexOf(state.name) + by;
    if (to < 0 || to >= names.length) return;
    await moveState(state, state.parent, by < 0 ? names[to] : names[to + 1]);
  } else if (transition) {
    const own = chart.transitions.filter(({ sources }) => sources.some((name) => transition.sources.includes(name)));
    const other = own[own.indexOf(transition) + by];
    if (!other) return;
    const done = await edit({ op: "move-item", path: transition.path, index: other.index });
    if (done) patch({ selection: [other.path] });
  }
}

/** Put the selected state into the one before it, or out of the one around it. */
export async function nestSelected(deeper: boolean): Promise<void> {
  const chart = editable();
  const state = selectedState();
  if (!chart || !state) return;
  if (deeper) {
    const beside = siblings(chart, state.parent);
    const before = beside[beside.indexOf(state) - 1];
    if (before) await moveState(state, before.path);
    return;
  }
  const around = stateAt(chart, state.parent);
  if (!around) return;
  const beside = siblings(chart, around.parent);
  await moveState(state, around.parent, beside[beside.indexOf(around) + 1]?.name);
}

/** Make a state the one that is entered first of those beside it. */
export async function makeInitial(state = selectedState()): Promise<void> {
  if (state && state.entered !== "together" && editable()) {
    await edit({ op: "set", path: `${state.parent}.initial`, text: state.name });
  }
}

/** Switch a truth of a state with substates: history, parallel. */
export async function toggle(name: "history" | "parallel"): Promise<void> {
  const chart = editable();
  const chosen = selectedState();
  const state = chosen && (chosen.open ? chosen : stateAt(chart!, chosen.parent));
  if (!chart || !state) return;
  const path = `${state.path}.${name}`;
  const operations: Operation[] = [state[name] ? { op: "unset", path } : { op: "set", path, text: "true" }];
  if (name === "parallel") operations.push(...forParallel(chart, state));
  await edit(...operations);
}

/** Of parallel states none is the first, and of others one is. */
function forParallel(chart: Chart, state: ChartState): Operation[] {
  const path = `${state.path}.initial`;
  const beside = siblings(chart, state.path);
  if (state.parallel) return beside.length > 1 ? [{ op: "set", path, text: beside[0]!.name }] : [];
  return hasInitial(chart, state.path) ? [{ op: "unset", path }] : [];
}

// --- transitions -----------------------------------------------------------------------------------

function leads(chart: Chart, from: string, to: string): Operation {
  return { op: "append", path: `${chart.path}.transitions`, text: `{from: ${from}, to: ${to}}` };
}

/** Add a transition; the field for its condition is open. */
export async function addTransition(from: ChartState, to: ChartState): Promise<void> {
  const chart = editable();
  if (!chart || !(await edit(leads(chart, from.name, to.name)))) return;
  const made = now().sheet?.chart?.transitions.at(-1);
  if (made) patch({ selection: [made.path], filling: "when", said: `transition from ${from.name} to ${to.name} added` });
}

/** Let a transition leave, or enter, another state. */
export async function retarget({ path, sources }: ChartTransition, end: "from" | "to", state: ChartState, old?: string): Promise<void> {
  if (!editable()) return;
  if (end === "to") return void (await edit({ op: "set", path: `${path}.to`, text: state.name }));
  const others = sources.map((name) => (name === old ? state.name : name));
  const text = others.length > 1 ? `[${[...new Set(others)].join(", ")}]` : state.name;
  await edit({ op: "set", path: `${path}.from`, text });
}
