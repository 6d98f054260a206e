// What is done with panels: other places, windows of their own, whole layouts.

import { now, type Panel, patch } from "../store";
import { hostOf } from "./hosts";
import { setLayout, showPanel } from "./kept";
import { FIRST, type Group, groupOf, type Layout, type Side, SIDES } from "./layout";
import "./moves.css";

/** Where a panel goes: into a group, or as a new one beside it. at: the number of a group of the side. */
export interface Place {
  side: Side;
  at: number;
  how: "into" | "before" | "after";
}

/** Put a panel at a place. */
export function put(layout: Layout, panel: Panel, { side, at, how }: Place): Layout {
  const next = { ...without(layout, panel, true), closed: layout.closed.filter((one) => one !== panel) };
  const group = next[side][at];
  const groups: Group[] = [...next[side]];
  if (group && how === "into") groups[at] = groupOf([...group.tabs, panel], panel);
  else groups.splice(at + (how === "after" ? 1 : 0), 0, groupOf([panel], panel));
  return tidied({ ...next, [side]: groups, open: side === "bottom" ? true : next.open });
}

/** Close a panel. */
export function close(layout: Layout, panel: Panel): Layout {
  return { ...without(layout, panel), closed: [...layout.closed.filter((one) => one !== panel), panel] };
}

/** The groups without a panel; empty ones stay if asked, so that numbers of groups mean the same. */
function without(layout: Layout, panel: Panel, stay = false): Layout {
  const left = (side: Side): Group[] => layout[side].map(({ tabs, at }) => groupOf(tabs.filter((one) => one !== panel), at));
  const next = { ...layout, bottom: left("bottom"), right: left("right") };
  return stay ? next : tidied(next);
}

function tidied(layout: Layout): Layout {
  const full = (side: Side): Group[] => layout[side].filter(({ tabs }) => tabs.length > 0);
  return { ...layout, bottom: full("bottom"), right: full("right") };
}

/** The place of a panel; null where it is closed. */
export function placeOf(layout: Layout, panel: Panel): { side: Side; at: number; group: Group } | null {
  for (const side of SIDES) {
    const at = layout[side].findIndex(({ tabs }) => tabs.includes(panel));
    if (at >= 0) return { side, at, group: layout[side][at]! };
  }
  return null;
}

/** Layouts with names. */
export const LAYOUTS: Record<string, Layout> = {
  Edit: { ...FIRST, open: false },
  Run: {
    ...FIRST,
    bottom: [{ tabs: ["scopes", "motion", "tests", "runs", "jobs", "changes", "loops"], at: "scopes" }, { tabs: ["dashboard", "tune", "debug"], at: "tune" }],
    open: true,
    hides: ["palette"],
  },
  "3-D": {
    ...FIRST,
    bottom: [{ tabs: ["scopes", "dashboard", "tune", "debug", "tests", "runs", "jobs", "changes", "loops"], at: "scopes" }],
    right: [{ tabs: ["motion"], at: "motion" }],
    open: true,
    hides: ["palette"],
  },
  "As at first": FIRST,
};

// --- of the page ---------------------------------------------------------------------------------

/** Show a panel and put the focus into it. */
export async function goTo(panel: Panel): Promise<void> {
  if (!now().windows.includes(panel)) await showPanel(panel);
  else patch({ panel });
  setTimeout(() => {
    const tab = document.getElementById(`tab-${panel}`);
    if (tab) tab.focus();
    else hostOf(panel).ownerDocument.defaultView?.focus();
  });
}

/** Go to the next part of the page: the sheet, then the groups of panels. */
export function goOn(way: 1 | -1): void {
  const parts = [null, ...document.querySelectorAll<HTMLElement>(".panel-group")];
  const at = parts.findIndex((part) => part?.contains(document.activeElement));
  const next = parts[(Math.max(at, 0) + way + parts.length) % parts.length];
  if (next) next.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
  else (document.activeElement as HTMLElement | null)?.blur();
}

/** Give a panel the whole page, or take it back. */
export async function maximise(panel: Panel = now().panel): Promise<void> {
  if (now().maximised !== null) return patch({ maximised: null });
  await showPanel(panel);
  patch({ maximised: panel });
}

export function setPlace(panel: Panel, place: Place): void {
  setLayout(put(now().layout, panel, place));
  patch({ panel, maximised: null });
}

/** Split a panel off its group. */
export function split(panel: Panel): void {
  const { layout } = now();
  const place = placeOf(layout, panel);
  if (place) setPlace(panel, { ...place, how: "after" });
}

/** Move a panel to a side: to the group that is last there. */
export function moveTo(panel: Panel, side: Side): void {
  const groups = now().layout[side];
  setPlace(panel, { side, at: Math.max(groups.length - 1, 0), how: side === "bottom" && groups.length ? "into" : "after" });
}

export function closePanel(panel: Panel): void {
  setLayout(close(now().layout, panel));
  patch({ maximised: null });
}

export function setNamed(name: string): void {
  const { layout } = now();
  setLayout({ ...LAYOUTS[name]!, sizes: name === "As at first" ? {} : layout.sizes });
  patch({ maximised: null, said: `Layout: ${name}` });
}
