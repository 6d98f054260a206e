import { Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";

import { lineChanges } from "../src/code/lines";
import { pathAt, rangeOf, writingAt } from "../src/code/places";

const TEXT = `\
name: arm # {not: a bracket}
params:
  k: 2
robots: {sc: {urdf: a.urdf, base: floating}}
subsystems:
  servo:
    inputs: [goal]
    blocks:
      law: {type: GAIN, K: $gain}
    wires:
    - in.goal -> law
    - law -> out.x
blocks:
  # how it begins
  step: {type: STEP, T: 1}
  dx: {type: FCN, arguments: [p], params: {fx: 1},
    expression: "u[0] + {1}",
    other: [1, 2]}
  table:
    type: LOOKUP
    x: [0, 1]

    y:
      - 1
      - 2
wires:
  - step -> one.goal, two
  - plant.qm[0:2] -> ctrl.qm
expect:
  final:
    - {signal: x, value: 1}
    - signal: y
      value: 2
run: {T: 2}
`;
const doc = Text.of(TEXT.split("\n"));

/** The document with the caret where | is. */
function caret(text: string): [Text, number] {
  return [Text.of(text.replace("|", "").split("\n")), text.indexOf("|")];
}

function at(part: string, more = 0): readonly (string | number)[] {
  return pathAt(doc, TEXT.indexOf(part) + more);
}

describe("the path at a position", () => {
  it("is that of keys around it, in lines and in brackets", () => {
    expect(at("k: 2", 1)).toEqual(["params", "k"]);
    expect(at("floating")).toEqual(["robots", "sc", "base"]);
    expect(at("$gain")).toEqual(["subsystems", "servo", "blocks", "law", "K"]);
    expect(at("T: 1", 3)).toEqual(["blocks", "step", "T"]);
    expect(at("u[0]")).toEqual(["blocks", "dx", "expression"]);
    expect(at("fx: 1", 4)).toEqual(["blocks", "dx", "params", "fx"]);
    expect(at("2]}")).toEqual(["blocks", "dx", "other", 1]);
    expect(at("LOOKUP")).toEqual(["blocks", "table", "type"]);
  });
  it("counts the items of lists", () => {
    expect(at("law -> out.x")).toEqual(["subsystems", "servo", "wires", 1]);
    expect(at("- 2\nwires", 2)).toEqual(["blocks", "table", "y", 1]);
    expect(at("ctrl.qm")).toEqual(["wires", 1]);
    expect(at("value: 1", 7)).toEqual(["expect", "final", 0, "value"]);
    expect(at("value: 2", 7)).toEqual(["expect", "final", 1, "value"]);
    expect(at("y\n      value")).toEqual(["expect", "final", 1, "signal"]);
  });
});

describe("the lines of a path", () => {
  const lines = (...path: (string | number)[]) => {
    const found = rangeOf(doc, path);
    return found && TEXT.split("\n").slice(found.first - 1, found.last).map((line) => line.trim());
  };
  it("are those of the entry", () => {
    expect(lines("blocks", "step")).toEqual(["step: {type: STEP, T: 1}"]);
    expect(lines("blocks", "dx")!.length).toBe(3);
    expect(lines("blocks", "table")!.at(-1)).toBe("- 2");
    expect(lines("blocks", "table", "y")).toEqual(["y:", "- 1", "- 2"]);
    expect(lines("wires", 1)).toEqual(["- plant.qm[0:2] -> ctrl.qm"]);
    expect(lines("subsystems", "servo", "wires", 1)).toEqual(["- law -> out.x"]);
    expect(lines("subsystems", "servo", "blocks", "law")).toEqual(["law: {type: GAIN, K: $gain}"]);
    expect(lines("expect", "final", 1, "value")).toEqual(["value: 2"]);
    expect(lines("nothing")).toBeNull();
  });
  it("are those around it where it is in brackets", () => {
    expect(rangeOf(doc, ["robots", "sc", "base"])).toMatchObject({ first: 4, last: 4, whole: false });
  });
});

describe("what is written at the caret", () => {
  const writing = (text: string) => writingAt(...caret(text));
  it("is a key of a section, of a block or of the file", () => {
    expect(writing("bl|")).toMatchObject({ kind: "key", path: [], typed: "bl" });
    expect(writing("run:\n  sol|")).toMatchObject({ kind: "key", path: ["run"], typed: "sol" });
    expect(writing("blocks:\n  a: {type: GAIN, K|}")).toMatchObject({ kind: "key", path: ["blocks", "a"], typed: "K", given: { type: "GAIN" } });
    expect(writing("blocks:\n  a: {|, type: GAIN}")).toMatchObject({ kind: "key", path: ["blocks", "a"], given: { type: "GAIN" } });
    expect(writing("blocks:\n  a:\n    type: GAIN\n    |")).toMatchObject({ kind: "key", path: ["blocks", "a"], given: { type: "GAIN" } });
  });
  it("is a value", () => {
    expect(writing("blocks:\n  a: {type: GA|}")).toMatchObject({ kind: "value", path: ["blocks", "a", "type"], typed: "GA" });
    expect(writing("blocks:\n  a:\n    type: GA|")).toMatchObject({ kind: "value", path: ["blocks", "a", "type"], typed: "GA" });
    expect(writing("run: {log: [a, b|]}")).toMatchObject({ kind: "value", path: ["run", "log", 1], typed: "b" });
    expect(writing("blocks:\n  a: {type: GAIN, K: $|}")).toMatchObject({ kind: "value", typed: "$" });
  });
  it("is an end of a wire", () => {
    expect(writing("wires:\n  - go|")).toMatchObject({ path: ["wires", 0], typed: "go", isTarget: false });
    expect(writing("wires:\n  - goal -> err|")).toMatchObject({ path: ["wires", 0], typed: "err", isTarget: true });
    expect(writing("wires:\n  - a -> b\n  - goal ->a.0, err.1|")).toMatchObject({ path: ["wires", 1], typed: "err.1", isTarget: true });
  });
  it("is an item, which may be a mapping", () => {
    expect(writing("expect:\n  final:\n    - si|")).toMatchObject({ kind: "item", path: ["expect", "final", 0], typed: "si" });
  });
  it("is nothing in comments and in the midst of text", () => {
    expect(writing("name: a # com|")).toBeNull();
    expect(writing("some text w|")).toBeNull();
  });
});

describe("changes of lines", () => {
  const done = (before: string[], after: string[]) => {
    let shift = 0;
    const lines = [...before];
    for (const [first, last, put] of lineChanges(before, after)) {
      lines.splice(first + shift, last - first, ...put);
      shift += put.length - (last - first);
    }
    return lines;
  };
  it("give the other text, and leave equal lines alone", () => {
    const before = ["a", "b", "c", "d", "e", "f"];
    expect(lineChanges(before, ["a", "B", "c", "d", "E", "f", "g"])).toEqual([[1, 2, ["B"]], [4, 5, ["E"]], [6, 6, ["g"]]]);
    expect(lineChanges(before, before)).toEqual([]);
  });
  it("give it for random texts", () => {
    let seed = 1;
    const random = (most: number): number => (seed = (seed * 48271) % 2147483647) % most;
    for (let k = 0; k < 500; k++) {
      const [before, after] = [0, 1].map(() => Array.from({ length: random(12) }, () => String(random(7)))) as [string[], string[]];
      expect(done(before, after)).toEqual(after);
    }
  });
  it("are found in ten thousand lines", () => {
    const before = Array.from({ length: 10_000 }, (_, k) => `  block${k}: {type: GAIN}`);
    const after = before.map((line, k) => (k % 1000 === 7 ? `${line} # new` : line));
    expect(lineChanges(before, after).length).toBe(10);
  });
});
