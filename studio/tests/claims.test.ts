import { describe, expect, it } from "vitest";

import { adding, changing, judged, others, removing, summary, textsOf, unitOf, wordsOf } from "../src/claims/claim";
import type { Claim, ClaimKind, Field, Finding, Test, TestCase } from "../src/protocol";

const field = (name: string, text: string | null = null, more: Partial<Field> = {}): Field => ({
  name, path: `expect.final[1].${name}`, doc: "", unit: "", kind: "any", choices: [], lines: false, required: false, default: "", text, tunable: null, ...more,
});
const final: ClaimKind = { kind: "final", doc: "", several: true, fields: ["signal", "value", "within"].map((name) => field(name)) };
const baseline: ClaimKind = { kind: "baseline", doc: "", several: false, fields: [field("samples"), field("file", null, { kind: "text" })] };
const claim = (more: Partial<Claim> = {}): Claim => ({
  path: "expect.final[1]", kind: "final", signal: "plant.qm[0:2]", unit: "rad", line: 7, key: "final a",
  fields: [field("signal", '"plant.qm[0:2]"'), field("value", "$goal"), field("within", "1e-3")], ...more,
});

describe("what is written", () => {
  it("is a new item of the list of its kind", () => {
    expect(adding(final, { signal: "plant.qm[0:2]", value: "[1, 2]", within: " 1e-3 " })).toEqual([
      { op: "append", path: "expect.final", text: '{signal: "plant.qm[0:2]", value: [1, 2], within: 1e-3}' },
    ]);
  });

  it("is an entry where there is one at most", () => {
    expect(adding(baseline, {})).toEqual([{ op: "set", path: "expect.baseline", text: "true" }]);
    expect(adding(baseline, { samples: "20", file: "a b.csv" })).toEqual([{ op: "set", path: "expect.baseline", text: "{samples: 20, file: a b.csv}" }]);
  });

  it("is what has changed alone", () => {
    const texts = textsOf(claim().fields);
    expect(texts).toEqual({ signal: "plant.qm[0:2]", value: "$goal", within: "1e-3" });
    expect(changing(claim(), texts)).toEqual([]);
    expect(changing(claim(), { ...texts, signal: "x", within: "" })).toEqual([
      { op: "set", path: "expect.final[1].signal", text: "x" },
      { op: "unset", path: "expect.final[1].within" },
    ]);
    const empty = claim({ path: "expect.baseline", kind: "baseline", fields: [field("samples")] });
    expect(changing(empty, { samples: "20" })).toEqual([{ op: "set", path: "expect.baseline", text: "{samples: 20}" }]);
  });

  it("loses its list with the last claim", () => {
    const other = claim({ path: "expect.final[0]" });
    expect(removing(claim(), [other, claim()])).toEqual([{ op: "unset", path: "expect.final[1]" }]);
    expect(removing(claim(), [claim()])).toEqual([{ op: "unset", path: "expect.final" }]);
  });

  it("is told with units", () => {
    expect(wordsOf(claim())).toBe("value $goal [rad], within 1e-3 [rad]");
    expect(unitOf(field("by", null, { unit: "s" }), "rad")).toBe("[s]");
    expect(unitOf(field("direction"), "rad")).toBe("");
    expect(unitOf(field("low"), "[m/s]")).toBe("[m/s]");
  });
});

const finding = (key: string, verdict: Finding["verdict"], more: Partial<Finding> = {}): Finding => ({
  key, verdict, kind: "final", signal: "x", t: 1, message: "got 1", ...more,
});
const one = (findings: Finding[], more: Partial<TestCase> = {}): TestCase => ({
  name: "arm", passed: findings.every(({ verdict }) => verdict !== "failed"), seconds: 1, findings, faults: [], warnings: [], change: null, ...more,
});
const test = (cases: TestCase[], more: Partial<Test> = {}): Test => ({
  state: "ended", update: false, revision: "1", running: "", done: 0, all: 0, unit: "s", cases, problem: null, ...more,
});

describe("what a test says of a claim", () => {
  it("is the worst of its findings in all variants", () => {
    const found = test([one([finding("final a", "passed"), finding("final b", "passed")]), one([finding("final a", "failed")], { name: "arm-lqr" })]);
    expect(judged({ key: "final a", kind: "final" }, found)).toMatchObject({ verdict: "failed", findings: [{ case: "arm-lqr" }] });
    expect(judged({ key: "final b", kind: "final" }, found).verdict).toBe("passed");
    expect(judged({ key: "final c", kind: "final" }, found)).toEqual({ verdict: "unjudged", findings: [] });
    expect(judged({ key: "final c", kind: "final" }, null).verdict).toBe("unjudged");
    expect(judged({ key: "speed 9", kind: "speed" }, test([one([finding("speed 9", "warned")])])).verdict).toBe("warned");
  });

  it("is of a baseline what becomes of it", () => {
    const change = { file: "a.csv", lines: ["x: by 1"], written: false };
    const about = { key: "baseline true", kind: "baseline" };
    expect(judged(about, test([one([], { change })])).verdict).toBe("changes");
    expect(judged(about, test([one([], { change: { ...change, written: true } })])).verdict).toBe("recorded");
    expect(judged({ key: "final a", kind: "final" }, test([one([], { change })])).verdict).toBe("unjudged");
  });

  it("is told apart where it is of no claim that is listed", () => {
    const found = test([one([finding("", "failed", { kind: "run" }), finding("audit", "passed", { kind: "audit" }), finding("final z", "passed"), finding("final a", "failed")])]);
    expect(others([claim()], found).map(({ kind }) => kind)).toEqual(["run", "audit"]);
  });

  it("is summed up in a sentence", () => {
    const [good, bad] = [one([]), one([finding("a", "failed")])];
    expect(summary(test([good]), false)).toBe("The diagram passed.");
    expect(summary(test([bad]), true)).toBe("The diagram failed, as it was before the last change.");
    expect(summary(test([good, bad, good]), false)).toBe("2 of 3 variants passed.");
    expect(summary(test([], { state: "stopped" }), false)).toBe("The test was stopped.");
    expect(summary(test([], { state: "failed", problem: { message: "signal 9" } }), false)).toContain("signal 9");
  });
});
