import { describe, expect, it } from "vitest";

import { cellsOf, curve, linesOf, parse, pasted, put, rounded, textOfCells, textOfLines } from "../src/forms/values";

describe("cells", () => {
  it("are those of numbers, lists and matrices, as they are written", () => {
    for (const [text, shape, rows] of [
      ["2.50", "scalar", [["2.50"]]],
      ["[1, $k, 1e-3]", "list", [["1"], ["$k"], ["1e-3"]]],
      ["[[1, 2], [3, 4]]", "matrix", [["1", "2"], ["3", "4"]]],
    ] as const) {
      expect(cellsOf(text)).toEqual({ shape, rows });
      expect(textOfCells(cellsOf(text)!)).toBe(text);
    }
  });
  it("are not those of texts, mappings, ragged rows and deeper lists", () => {
    for (const text of ['"a"', "{a: 1}", "[[1], [2, 3]]", "[[[1]]]", "[1", "[]", "[1] 2"]) expect(cellsOf(text)).toBeNull();
  });
  it("are pasted from spreadsheets, lists and MATLAB", () => {
    expect(pasted("1\t2\r\n3\t4\r\n")).toEqual([["1", "2"], ["3", "4"]]);
    expect(pasted("1, 2\n3, 4")).toEqual([["1", "2"], ["3", "4"]]);
    expect(pasted("1 2; 3 4")).toEqual([["1", "2"], ["3", "4"]]);
    expect(pasted("[[1, 2], [3, 4]]")).toEqual([["1", "2"], ["3", "4"]]);
    expect(pasted("1\n2\n")).toEqual([["1"], ["2"]]);
    expect(pasted("12")).toBeNull();
  });
  it("grow where more is put into them", () => {
    expect(put([["1"]], [["2", "3"], ["4", "5"]], 0, 1)).toEqual([["1", "2", "3"], ["", "4", "5"]]);
  });
  it("say which is empty by what the file's checks say of null", () => {
    expect(textOfCells({ shape: "list", rows: [["1"], [""]] })).toBe("[1, null]");
  });
});

describe("lines", () => {
  it("are a text or a list of texts", () => {
    expect(linesOf('"u[0] + 1"')).toEqual(["u[0] + 1"]);
    expect(linesOf('["a > 1", b]')).toEqual(["a > 1", "b"]);
    expect(linesOf("{a: 1}")).toBeNull();
    expect(textOfLines("u[0] + 1\n", false)).toBe('"u[0] + 1"');
    expect(textOfLines("u[0] + 1", true)).toBe('["u[0] + 1"]');
    expect(textOfLines("sin(u)\ncos(u) +\n  1\n", false)).toBe('["sin(u)", "cos(u) + 1"]');
  });
  it("come back from the file as they were", () => {
    const lines = ['a == "b"', "it's", "u[0]**2 # not a comment"];
    expect(linesOf(textOfLines(lines.join("\n"), true))).toEqual(lines);
    expect(parse("[a, [b, 'c, d']]")).toEqual(["a", ["b", "'c, d'"]]);
  });
});

describe("curves", () => {
  it("go as the block interpolates", () => {
    const points = [[0, 0], [2, 4]] as const;
    expect(curve(points, "linear")).toEqual([[0, 0], [2, 4]]);
    expect(curve(points, "previous")).toEqual([[0, 0], [2, 0], [2, 4]]);
    expect(curve(points, "nearest")).toEqual([[0, 0], [1, 0], [1, 4], [2, 4]]);
    expect(rounded(0.123456, 10)).toBe(0.1);
    expect(rounded(123.456, 2)).toBe(123.46);
  });
});
