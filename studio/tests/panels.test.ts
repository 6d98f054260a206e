import { describe, expect, it } from "vitest";

import { FIRST, groupsOf, type Layout } from "../src/panels/layout";
import { close, LAYOUTS, put } from "../src/panels/moves";
import { ALL } from "../src/panels/names";
import { readLayout, withShown } from "../src/panels/reading";
import { targetAt } from "../src/panels/targets";

const names = (layout: Layout): string =>
  [layout.bottom, layout.right].map((side) => side.map(({ tabs, at }) => tabs.map((tab) => (tab === at ? tab.toUpperCase() : tab)).join(" ")).join(" | ")).join(" / ");
const all = (layout: Layout): string[] => [...layout.bottom, ...layout.right].flatMap(({ tabs }) => tabs).concat(layout.closed).sort();

const TWO: Layout = { ...FIRST, bottom: [{ tabs: ["scopes", "motion"], at: "scopes" }, { tabs: ["tune"], at: "tune" }] };

describe("a layout", () => {
  it("is read as it was kept", () => {
    const kept = JSON.parse(JSON.stringify(LAYOUTS["3-D"]));
    expect(readLayout(kept)).toEqual(LAYOUTS["3-D"]);
  });

  it("has each panel once, whatever was kept", () => {
    const bad = [undefined, null, 5, "x", [], { bottom: 3 }, { bottom: [null] }, { bottom: [{ tabs: ["scopes", "scopes", "nothing"], at: "runs" }], right: [{ tabs: ["scopes"], at: "scopes" }] }];
    for (const one of bad) {
      const layout = readLayout(one);
      expect(all(layout)).toEqual([...ALL].sort());
      expect([...layout.bottom, ...layout.right].every(({ tabs, at }) => tabs.includes(at))).toBe(true);
    }
  });

  it("shows a panel where it is, and one that is closed with the first", () => {
    expect(names(withShown(TWO, "motion"))).toBe("scopes MOTION | TUNE / ");
    const closed = close(TWO, "scopes");
    expect(names(closed)).toBe("MOTION | TUNE / ");
    expect(names(withShown(closed, "scopes"))).toBe("SCOPES motion | TUNE / ");
    expect(withShown(TWO, "tune").open).toBe(true);
  });

  it("splits, joins and moves, and loses no panel", () => {
    const split = put(TWO, "motion", { side: "bottom", at: 0, how: "after" });
    expect(names(split)).toBe("SCOPES | MOTION | TUNE / ");
    const right = put(split, "motion", { side: "right", at: 0, how: "after" });
    expect(names(right)).toBe("SCOPES | TUNE / MOTION");
    expect(names(put(right, "scopes", { side: "right", at: 0, how: "before" }))).toBe("TUNE / SCOPES | MOTION");
    expect(names(put(right, "tune", { side: "bottom", at: 0, how: "into" }))).toBe("scopes TUNE / MOTION");
    expect(names(put(close(right, "tune"), "tune", { side: "right", at: 0, how: "into" }))).toBe("SCOPES / motion TUNE");
  });

  it("with a name has all panels", () => {
    for (const layout of Object.values(LAYOUTS)) expect(all(layout)).toEqual([...ALL].sort());
  });

  it("has no group for panels in windows of their own", () => {
    expect(groupsOf(TWO, "bottom", ["tune", "scopes"])).toEqual([{ tabs: ["motion"], at: "motion", index: 0 }]);
  });
});

describe("a tab that is dropped", () => {
  const groups = [
    { side: "bottom", at: 0, left: 0, top: 400, width: 400, height: 200 },
    { side: "right", at: 0, left: 600, top: 0, width: 200, height: 300 },
  ] as const;
  const sheet = { left: 100, top: 0, width: 500, height: 390 };
  const place = (x: number, y: number) => targetAt(x, y, groups, sheet)?.place ?? null;

  it("goes into a group, or beside it", () => {
    expect(place(200, 500)).toEqual({ side: "bottom", at: 0, how: "into" });
    expect(place(20, 500)).toEqual({ side: "bottom", at: 0, how: "before" });
    expect(place(390, 500)).toEqual({ side: "bottom", at: 0, how: "after" });
    expect(place(700, 290)).toEqual({ side: "right", at: 0, how: "after" });
  });

  it("goes to the right of the sheet, or below it, or nowhere", () => {
    expect(place(590, 100)).toEqual({ side: "right", at: 0, how: "after" });
    expect(place(150, 300)).toEqual({ side: "bottom", at: 0, how: "after" });
    expect(place(50, 100)).toBe(null);
  });
});
