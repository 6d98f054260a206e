import { describe, expect, it } from "vitest";

import { blockOf } from "../src/diagram";
import { trailTimes } from "../src/trails";

const f64 = (...numbers: number[]): Float64Array => Float64Array.from(numbers);

describe("trails", () => {
  it("have more points where the body turns", () => {
    const half = Math.SQRT1_2; // a quarter turn in the first second, none in the next
    const q = f64(0, 0, 0, 1, 0, 0, half, half, 0, 0, half, half);
    const times = trailTimes({ t: f64(0, 1, 2), p: new Float64Array(9), q });
    expect(times.length).toBe(Math.ceil(Math.PI / 2 / 0.1) + 2);
    expect([times[0], times.at(-2), times.at(-1)]).toEqual([0, 1, 2]);
  });

  it("have nothing between the rows of a jump", () => {
    const q = f64(0, 0, 0, 1, 0, 0, 1, 0);
    expect([...trailTimes({ t: f64(1, 1), p: new Float64Array(6), q })]).toEqual([1, 1]);
  });
});

describe("blockOf", () => {
  it("takes the longest name of a block that begins the signal's", () => {
    const blocks = new Set(["plant", "plant.arm", "sub.ctrl"]);
    expect(["plant.qm", "plant.arm.qm", "ctrl", "sub.ctrl", "sub.other"].map((name) => blockOf(name, blocks))).toEqual(
      ["plant", "plant.arm", null, "sub.ctrl", null],
    );
  });
});
