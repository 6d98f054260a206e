import { expect, test } from "vitest";

import { activityOf } from "../src/chart/watching";
import { yamlOfAssignments } from "../src/forms/assignments";
import type { Chart, ChartState, ChartTransition } from "../src/protocol";

test("assignments become a mapping of numbers, lists and formulas", () => {
  expect(yamlOfAssignments("y = 2*u; n = n + 1")).toBe('{y: "2*u", n: "n + 1"}');
  expect(yamlOfAssignments("y = -1.5e3\n\nz = [1, max(u, 2), [a]]")).toBe('{y: -1.5e3, z: [1, "max(u, 2)", ["a"]]}');
  expect(yamlOfAssignments("ok = u == 1")).toBe('{ok: "u == 1"}');
  expect(yamlOfAssignments("s = say(\"a\")")).toBe('{s: "say(\\"a\\")"}');
  expect(() => yamlOfAssignments("y 2")).toThrow("is no assignment");
  expect(() => yamlOfAssignments("y == 2")).toThrow("is no assignment");
});

const BASE = { x: 0, y: 0, width: 1, height: 1, head: 0, entered: "", open: false, parallel: false, history: false, lines: [], fields: [], problems: [] } as const;

function state(path: string, parent: string, number: number | null, region = "m"): ChartState {
  return { ...BASE, lines: [], fields: [], problems: [], path, parent, name: path.split(".").at(-1)!, number, region };
}

function leads(source: string, target: string): ChartTransition {
  const line = { source, when: "", row: 0, start: 0, text: 0, lane: 0, end: 0, head: 0, colour: 0 };
  return { path: "", index: 0, sources: [], target, when: "", do: "", lines: [line], fields: [], problems: [] };
}

const CHART: Chart = {
  path: "m", name: "m", type: "STATE_MACHINE", block: "m", width: 0, height: 0, parallel: false, fields: [], values: [], problems: [],
  regions: [{ path: "m", port: "state" }],
  states: [state("m.states.a", "m", 1), state("m.states.b", "m", null), state("m.states.b.states.c", "m.states.b", 2)],
  transitions: [leads("m.states.a", "b"), leads("m.states.b", "a")],
};

test("the active state lights up with those around it, and the transition that led to it", () => {
  expect(activityOf(CHART, [{ numbers: { state: 2 }, left: { state: 1 } }])).toEqual({
    states: { "m.states.b": true, "m.states.b.states.c": true }, taken: "m.states.a b",
  });
  expect(activityOf(CHART, [{ numbers: { state: 1 }, left: { state: 2 } }]).taken).toBe("m.states.b a");
  expect(activityOf(CHART, [{ numbers: { state: 0 }, left: { state: null } }])).toEqual({ states: {}, taken: null });
});

test("of copies each state says in how many it is active", () => {
  const copies = [1, 2, 1].map((number) => ({ numbers: { state: number }, left: { state: null } }));
  expect(activityOf(CHART, copies).states).toEqual({ "m.states.a": "2 of 3", "m.states.b": "1 of 3", "m.states.b.states.c": "1 of 3" });
});
