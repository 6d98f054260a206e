import { describe, expect, it } from "vitest";

import { placeAt, poseAt, rowAt, valuesAt } from "../src/tracks";

const f64 = (...numbers: number[]): Float64Array => Float64Array.from(numbers);
const half = Math.SQRT1_2;

describe("rows", () => {
  it("finds the last row of a time", () => {
    const t = f64(0, 1, 1, 2);
    expect([-1, 0, 0.5, 1, 1.5, 2, 9].map((time) => rowAt(t, time))).toEqual([-1, 0, 0, 2, 2, 3, 3]);
  });

  it("holds both ends", () => {
    expect(placeAt(f64(0, 1), -5)).toEqual([0, 0]);
    expect(placeAt(f64(0, 1), 5)).toEqual([1, 0]);
  });
});

describe("valuesAt", () => {
  const series = { t: f64(0, 1, 1, 2), columns: 2, values: f64(0, 0, 1, 10, 5, 50, 6, 60) };

  it("is linear between rows and takes the second row of a jump", () => {
    expect(valuesAt(series, 0.5)).toEqual([0.5, 5]);
    expect(valuesAt(series, 1 - 1e-12)[0]).toBeCloseTo(1, 9);
    expect(valuesAt(series, 1)).toEqual([5, 50]);
    expect(valuesAt(series, 1.25)).toEqual([5.25, 52.5]);
  });

  it("takes one row and none", () => {
    expect(valuesAt({ t: f64(3), columns: 1, values: f64(7) }, 0)).toEqual([7]);
    expect(valuesAt({ t: f64(), columns: 1, values: f64() }, 0)).toEqual([NaN]);
  });
});

describe("poseAt", () => {
  it("turns on the arc at a constant rate", () => {
    const track = { t: f64(0, 1), p: f64(0, 0, 0, 2, 4, 6), q: f64(0, 0, 0, 1, 0, 0, half, half) };
    const third = Math.PI / 12;
    const want = [2 / 3, 4 / 3, 2, 0, 0, Math.sin(third), Math.cos(third)];
    poseAt(track, 1 / 3).forEach((value, k) => expect(value).toBeCloseTo(want[k]!, 12));
  });

  it("takes the shorter way between q and -q", () => {
    const track = { t: f64(0, 1), p: f64(0, 0, 0, 0, 0, 0), q: f64(0, 0, 0, 1, 0, 0, 0, -1) };
    expect(Math.abs(poseAt(track, 0.5)[6])).toBeCloseTo(1, 12);
  });

  it("is at the second row of a jump", () => {
    const q = f64(0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0);
    const track = { t: f64(0, 1, 1, 2), p: f64(0, 0, 0, 1, 0, 0, 5, 0, 0, 6, 0, 0), q };
    expect(poseAt(track, 1)).toEqual([5, 0, 0, 1, 0, 0, 0]);
    expect(poseAt(track, 0.5)).toEqual([0.5, 0, 0, 0, 0, 0, 1]);
  });
});
