// Where the panels are: in groups of tabs, side by side under the diagram or one below the other at
// its right. A layout is kept for each file in the user's cache.

import type { Panel } from "../store";
import { ALL } from "./names";

export type Side = "bottom" | "right";
export const SIDES = ["bottom", "right"] as const;

export interface Group {
  tabs: readonly Panel[];
  /** The tab that is shown. */
  at: Panel;
}

export interface Layout {
  bottom: readonly Group[];
  right: readonly Group[];
  /** Whether the groups at the bottom show more than their tabs; null: as soon as there is a run. */
  open: boolean | null;
  closed: readonly Panel[];
  /** Sides of the page that are not shown. */
  hides: readonly ("palette" | "form")[];
  /** Sizes that were changed by hand [pixels], by what `Edge` calls them. */
  sizes: Readonly<Record<string, number>>;
}

export const FIRST: Layout = { bottom: [{ tabs: ALL, at: "scopes" }], right: [], open: null, closed: [], hides: [], sizes: {} };

/** A group with the tab that is shown, if it has it. */
export function groupOf(tabs: readonly Panel[], at: Panel): Group {
  return { tabs, at: tabs.includes(at) ? at : tabs[0]! };
}

/** The groups of a side as they are shown: without panels in windows of their own. */
export function groupsOf(layout: Layout, side: Side, windows: readonly Panel[]): (Group & { index: number })[] {
  return layout[side].flatMap(({ tabs, at }, index) => {
    const here = tabs.filter((panel) => !windows.includes(panel));
    return here.length ? [{ ...groupOf(here, at), index }] : [];
  });
}
