// Layouts as they were kept, and what shows a panel in them.

import type { Panel } from "../store";
import { FIRST, type Group, groupOf, type Layout, type Side, SIDES } from "./layout";
import { ALL } from "./names";

/** A layout as it was kept. Panels that it does not name are with the first. */
export function readLayout(found: unknown): Layout {
  const left = new Set(ALL);
  const taken = (names: readonly Panel[] = []): Panel[] => names.filter((name) => left.delete(name));
  try {
    const given = (found ?? {}) as Partial<Layout>;
    const groups = (side: Side): Group[] =>
      (given[side] ?? []).map(({ tabs, at }) => groupOf(taken(tabs), at)).filter(({ tabs }) => tabs.length);
    const { open = null, hides = [], sizes = {} } = given;
    const layout = { bottom: groups("bottom"), right: groups("right"), open, closed: taken(given.closed), hides: [...hides], sizes };
    return [...left].reduce(withTab, layout);
  } catch {
    return FIRST; // it was written by another version
  }
}

/** Add a panel to the first group. */
function withTab(layout: Layout, panel: Panel): Layout {
  const [first, ...others] = layout.bottom;
  const order = (one: Panel, other: Panel): number => ALL.indexOf(one) - ALL.indexOf(other);
  return { ...layout, bottom: [first ? groupOf([...first.tabs, panel].sort(order), first.at) : groupOf([panel], panel), ...others] };
}

/** Show a panel where it is; one that is closed is with the first again. */
export function withShown(layout: Layout, panel: Panel): Layout {
  if (layout.closed.includes(panel)) {
    const closed = layout.closed.filter((one) => one !== panel);
    return withShown(withTab({ ...layout, closed }, panel), panel);
  }
  const next = { ...layout };
  for (const side of SIDES) {
    if (!layout[side].some(({ tabs }) => tabs.includes(panel))) continue;
    next[side] = layout[side].map((group) => groupOf(group.tabs, group.tabs.includes(panel) ? panel : group.at));
    if (side === "bottom") next.open = true;
  }
  return next;
}
