import { describe, expect, test } from "vitest";

import { ghostsOf } from "../src/changes/ghosts";
import { isPair, optionsOf, parted, sidesOf } from "../src/jobs/options";
import type { JobOption, Marks, Sheet } from "../src/protocol";

function option(name: string, more: Partial<JobOption> = {}): JobOption {
  return { name, doc: "", value: "", choices: [], flag: false, several: false, required: false, default: "", ...more };
}

describe("options of jobs", () => {
  const options = [option("runs", { value: "N" }), option("over", { value: "PATH=VALUES", several: true }), option("verify", { flag: true })];

  test("what is empty is left out", () => {
    expect(optionsOf(options, { runs: " ", over: ["k=[1, 2]", "", "="], verify: false })).toEqual({ over: ["k=[1, 2]"] });
    expect(optionsOf(options, { runs: " 3 ", verify: true })).toEqual({ runs: "3", verify: true });
  });

  test("a formula may have signs =", () => {
    expect(sidesOf("miss=final(x) == 1")).toEqual(["miss", "final(x) == 1"]);
    expect(sidesOf("k")).toEqual(["k", ""]);
    expect(options.map(isPair)).toEqual([false, true, false]);
  });

  test("those that are asked first come first", () => {
    const [first, others] = parted("sweep", options);
    expect(first.map(({ name }) => name)).toEqual(["over", "runs"]);
    expect(others.map(({ name }) => name)).toEqual(["verify"]);
  });
});

describe("blocks that are gone", () => {
  const box = (name: string, x: number, y: number) => ({ name, x, y, width: 100, height: 50 });
  const sheet = { blocks: [box("a", 0, 0), box("b", 400, 0), box("c", 200, 0)] } as unknown as Sheet;

  test("lie between those that they were wired to, and on no other", () => {
    const marks: Marks = {
      blocks: {}, wires: [], gone: [{ name: "old", type: "GAIN" }, { name: "lone", type: "GAIN" }],
      lost: [{ source: "a", target: "old", start: "a", end: "old" }, { source: "old", target: "b", start: "old", end: "b" }],
    };
    const [old, lone] = ghostsOf(sheet, marks);
    expect(old!.x).toBeGreaterThan(100);
    expect(old!.x + old!.width).toBeLessThan(400);
    for (const one of [old!, lone!]) {
      for (const other of sheet.blocks) {
        const apart = one.x >= other.x + other.width || other.x >= one.x + one.width || one.y >= other.y + other.height || other.y >= one.y + one.height;
        expect(apart).toBe(true);
      }
    }
    expect(lone!.y).toBeGreaterThan(50);
  });
});
