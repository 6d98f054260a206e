import { describe, expect, it } from "vitest";

import { judge } from "../src/live/claims";
import { csvOf } from "../src/live/csv";
import type { Claim, Model, Parameter } from "../src/live/data";
import { exactValues, type Fraction, meant, nearest, type Step } from "../src/live/exact";
import { quaternionOf } from "../src/live/motion";
import type { Run } from "../src/live/program";
import { gridOf } from "../src/live/sweep";
import { switchTimes } from "../src/live/switching";
import { Values } from "../src/live/values";
import type { Motion } from "../src/recording";

const parameter = (given: Partial<Parameter>): Parameter => ({
  name: "k",
  places: [[0]],
  shape: [],
  unit: "",
  doc: "",
  min: null,
  max: null,
  start: false,
  labels: [],
  ...given,
});
const values = (p: number[], ...parameters: Parameter[]): Values => new Values({ p, parameters } as unknown as Model);

describe("known times of switches", () => {
  const times = (edges: number[], start: number, end: number): number[] | null => {
    const found = switchTimes(edges.map((one) => (Number.isFinite(one) ? meant(one) : null)), start, end);
    return found && [...found];
  };

  it("are the doubles next to the exact sums", () => {
    expect(times([0.1, 0.1], 0, 1)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]);
    expect(times([0, 1 / 3], 0, 2)).toEqual([1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2]);
  });

  it("are after the start, each once, ascending", () => {
    expect(times([0, 0.5, 0.25, 0, 0.5, 1], 0, 1)).toEqual([0.25, 0.5, 1]);
    expect(times([1e-7, 0.3], 100, 100.5)).toEqual([100.2000001]);
    expect(times([0.2, 0, 0, -1, 2, 0], 0, 1)).toEqual([0.2]);
  });

  it("are none of a source that never switches, and refused beyond a million", () => {
    expect(times([Infinity, 0, NaN, 1], 0, 1)).toEqual([]);
    expect(times([0, 1e-9], 0, 1)).toBeNull();
  });
});

describe("exact fractions", () => {
  const ratio = ({ n, d }: Fraction): string => `${n}/${d}`;

  it("are those that a number means", () => {
    expect([0.1, -1.5e-7, 1 / 300, 1e21, Math.PI].map((one) => ratio(meant(one)))).toEqual([
      "1/10", "-3/20000000", "1/300", "1000000000000000000000/1", "3141592653589793/1000000000000000",
    ]);
  });

  it("have a next double, rounded once", () => {
    const values = [0.1, 1e-300, 1.7e308, -123456.789, 2 ** 53 + 2];
    expect(values.map((one) => nearest(meant(one)))).toEqual(values);
    expect(nearest({ n: 2n ** 54n + 3n, d: 2n })).toBe(2 ** 53 + 2);
  });

  it("follow a function; doubles count where it is not rational", () => {
    const steps: Step[] = [
      ["input", [0, 0], [0], 0], ["input", [0, 1], [1], 0], ["mul", [0, 1], [2], 0], ["output", [2], [0, 0], 0],
      ["sqrt", [0], [3], 0], ["output", [3], [0, 1], 0],
    ];
    const [product, root] = exactValues(steps, [0.4, 1.1], [0.4 * 1.1, 0.5]) as [Fraction, Fraction];
    expect([ratio(product), ratio(root)]).toEqual(["11/25", "1/2"]);
    expect(exactValues(steps, [0.4, Infinity], [Infinity, 0.5])[0]).toBeNull();
  });

  it("have the operations of Python's", () => {
    const of = (operation: string, ...values: number[]): number => {
      const inputs = values.map((_, k): Step => ["input", [0, k], [k], 0]);
      const steps: Step[] = [...inputs, [operation, values.map((_, k) => k), [9], 0], ["output", [9], [0, 0], 0]];
      return nearest(exactValues(steps, values, [NaN])[0]!);
    };
    expect(["floor", "ceil", "fabs", "sign", "neg", "inv", "twice", "sq"].map((one) => of(one, -2.5))).toEqual([-3, -2, 2.5, -1, 2.5, -0.4, -5, 6.25]);
    expect(["fmod", "fmin", "fmax", "lt", "le", "eq", "ne", "and", "or", "if_else_zero"].map((one) => of(one, -2.5, 2))).toEqual([-0.5, -2.5, 2, 1, 1, 0, 1, 1, 1, 2]);
    expect(of("if_else_zero", 0, 2)).toBe(0);
  });
});

describe("values", () => {
  it("are moved at all their places, and kept in an address", () => {
    const some = values([2, 2, 7], parameter({ places: [[0], [1]] }), parameter({ name: "a b", places: [[2]] }));
    some.take("#k=3&a%20b=8&unknown=1&k=x");
    expect([...some.p]).toEqual([3, 3, 8]);
    expect(some.text()).toBe("k=3&a%20b=8");
    some.reset();
    expect([...some.p]).toEqual([2, 2, 7]);
  });

  it("stay within declared bounds", () => {
    const some = values([2], parameter({ min: 0, max: 5 }));
    some.take("k=9");
    expect(some.p[0]).toBe(5);
  });

  it("have sliders from nothing to twice, or about a start", () => {
    const found = values([4, -4, 1], parameter({}), parameter({ name: "m", places: [[1]] }), parameter({ name: "x0", places: [[2]], start: true })).knobs;
    expect(found.map(({ min, max }) => [min, max])).toEqual([[0, 8], [-8, 0], [0, 2]]);
  });

  it("number the entries of arrays, and leave large ones out", () => {
    const found = values(new Array<number>(40).fill(1), parameter({ places: [[0, 1, 2, 3]], shape: [2, 2] }), parameter({ name: "big", places: [Array.from({ length: 20 }, (_, k) => k)], shape: [20] }));
    expect(found.knobs.map(({ name }) => name)).toEqual(["k[0,0]", "k[0,1]", "k[1,0]", "k[1,1]"]);
  });
});

describe("claims", () => {
  const claim = (given: Partial<Claim>): Claim => ({ name: "c", signal: "s", judged: "extremes", falls: false, at: [0], low: [], high: [], ...given });
  const run = (...meters: number[]): Run => ({ meters: Float64Array.from(meters), ending: "complete", reason: "" }) as unknown as Run;
  const extremes = run(1, 0, 0.5, -1, 0.1, 2, 0.3);

  it("compare extremes, last values and extents", () => {
    expect(judge(claim({ low: [-1], high: [2] }), extremes).held).toBe(true);
    expect(judge(claim({ low: [-0.9], high: [2] }), extremes).held).toBe(false);
    expect(judge(claim({ judged: "last", low: [0.4], high: [0.6] }), extremes).held).toBe(true);
    expect(judge(claim({ judged: "extent", high: [2.9] }), extremes).held).toBe(false);
  });

  it("compare how far a signal went back", () => {
    expect(judge(claim({ judged: "back", high: [0.1] }), run(0, 0.2, 1, 3, 2.8)).held).toBe(false);
    expect(judge(claim({ judged: "back", falls: true, high: [0.3] }), run(0, 0.2, 1, -3, -2.8)).held).toBe(true);
  });

  it("miss where there is no step of the signal's shape", () => {
    expect(judge(claim({ judged: "rise_time", at: [], high: [1] }), run())).toEqual({ held: false, text: "no step" });
  });

  it("miss in a run that failed, and tell why", () => {
    expect(judge(claim({}), { ...extremes, ending: "failed", reason: "no step" })).toEqual({ held: false, text: "no step" });
  });
});

describe("a run as a table", () => {
  it("quotes names, and none is a formula", () => {
    const series = { t: Float64Array.of(0, 1), columns: 2, values: Float64Array.of(1, 2, 3, 4) };
    const motion = { signals: [{ name: '=a,"b"', unit: "", labels: [], scope: null, series }] } as unknown as Motion;
    expect(csvOf(motion)).toBe(`t,"'=a,""b""[0]","'=a,""b""[1]"\n0,1,2\n1,3,4\n`);
  });
});

describe("frames", () => {
  it("give unit quaternions in all four forms", () => {
    const turn = (xx: number, yy: number, zz: number): number[] => [xx, 0, 0, 0, 0, yy, 0, 0, 0, 0, zz, 0];
    expect(quaternionOf(turn(1, 1, 1))).toEqual([0, 0, 0, 1]);
    expect(quaternionOf(turn(1, -1, -1))).toEqual([1, 0, 0, 0]);
    expect(quaternionOf(turn(-1, 1, -1))).toEqual([0, 1, 0, 0]);
    expect(quaternionOf(turn(-1, -1, 1))).toEqual([0, 0, 1, 0]);
  });
});

it("a grid has both ends", () => {
  expect(gridOf({ min: 1, max: 2 } as never, 3)).toEqual([1, 1.5, 2]);
});
