import { describe, expect, it } from "vitest";

import { hashOf, placeOf } from "../src/actions";
import { keyOf } from "../src/app/keys";
import { pasting } from "../src/canvas/clipboard";
import { matching } from "../src/canvas/filter";
import { freeName, nameOfType } from "../src/canvas/names";
import { fromYaml, toYaml, withCommas } from "../src/forms/yaml";
import { block, sheet, wire } from "./samples";

describe("filtering", () => {
  const types = [
    { name: "INTEGRATOR", more: "Integrates its input." },
    { name: "GAIN", more: "Multiplies by a constant." },
    { name: "CONSTANT", more: "A value that stays." },
    { name: "LOOP_GAIN", more: "Looks at loops." },
  ];
  const names = (typed: string) => matching(typed, types, ({ name, more }) => [name, more]).map(({ name }) => name);

  it("has names before descriptions, and beginnings before middles", () => {
    expect(names("gain")).toEqual(["GAIN", "LOOP_GAIN"]);
    expect(names("const")).toEqual(["CONSTANT", "GAIN"]);
  });

  it("wants every word, in any order", () => {
    expect(names("constant multiplies")).toEqual(["GAIN"]);
    expect(names("  ")).toHaveLength(4);
    expect(names("nothing")).toEqual([]);
  });
});

describe("names", () => {
  it("are free, and count on", () => {
    expect(freeName("gain", [])).toBe("gain");
    expect(freeName("gain", ["gain", "gain2"])).toBe("gain3");
    expect(freeName("gain2", ["gain2"])).toBe("gain3");
  });

  it("come from types", () => {
    expect(nameOfType("JOINT_PD")).toBe("joint_pd");
    expect(nameOfType("2DPSD")).toBe("dpsd");
    expect(nameOfType("->")).toBe("block");
  });
});

describe("texts as YAML", () => {
  it.each([
    ["[0.001 0.5]", "[0.001, 0.5]"], ["[ 1, 2  3 ]", "[1, 2, 3]"], ["[1 -2e-3; .5 4]", "[[1, -2e-3], [.5, 4]]"], ["[1;2; 3]", "[1, 2, 3]"],
  ])("%j of MATLAB is %j", (text, yaml) => expect(withCommas(text)).toBe(yaml));

  it.each(["[1,2]", "[1, 2.0]", "[5]", "[]", "[1 - 2]", "[a b]", "[[1, 2], [3, 4]]", "1 2", "[1 2;; 3]"])("%j stays as it is", (text) => {
    expect(withCommas(text)).toBe(text);
  });

  it.each(["hello", "two words", "no", "3", "a: b", "", "it's", 'say "x"', "#1", "- x", "true", "1e3", "*a", "x "])("%j and back", (text) => {
    expect(fromYaml(toYaml(text))).toBe(text);
  });

  it("quotes what YAML would read as something else", () => {
    expect(toYaml("no")).toBe('"no"');
    expect(toYaml("3")).toBe('"3"');
    expect(toYaml("$kp")).toBe("$kp");
    expect(fromYaml("'it''s'")).toBe("it's");
  });
});

describe("keys", () => {
  const event = { key: "z", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  it("are called as they are listed", () => {
    expect(keyOf({ ...event, ctrlKey: true })).toBe("Ctrl+Z");
    expect(keyOf({ ...event, metaKey: true, shiftKey: true })).toBe("Ctrl+Shift+Z");
    expect(keyOf({ ...event, key: "?", shiftKey: true })).toBe("?");
    expect(keyOf({ ...event, key: " " })).toBe("Space");
    expect(keyOf({ ...event, key: "ArrowUp", altKey: true })).toBe("Alt+ArrowUp");
  });
});

describe("addresses", () => {
  it("name a file and its sheet", () => {
    for (const [path, at] of [["diagrams/a b.yaml", ""], ["ä.yaml", "arm/servo"]] as const) {
      expect(placeOf(hashOf(path, at))).toEqual({ path, at });
    }
    expect(placeOf("")).toBeNull();
  });
});

describe("pasting", () => {
  it("adds copies with free names, and the wires between them", () => {
    const there = sheet([block("a", { x: 0 }), block("b", { x: 200 })], [wire("a.y", "b.u")]);
    const copied = {
      blocks: there.blocks.map(({ name, type, x, y }) => ({ name, type, parameters: { K: "2" }, at: [x, y] as [number, number] })),
      wires: [wire("a.y[0:2]", "b.u")],
    };
    const { operations, names } = pasting(copied, there.blocks, "");
    expect(names).toEqual(["a2", "b2"]);
    expect(operations).toEqual([
      { op: "add", name: "a2", type: "GAIN", parameters: { K: "2" }, within: "", place: [30, 30] },
      { op: "add", name: "b2", type: "GAIN", parameters: { K: "2" }, within: "", place: [230, 30] },
      { op: "wire", source: "a2.y[0:2]", target: "b2.u", within: "" },
    ]);
  });
});
