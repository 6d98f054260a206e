import { describe, expect, it } from "vitest";

import { niceStep, tickText, ticks, valueText } from "../src/numbers";
import { type Area, rangeOf, thinned, timeOf, xOf, yOf } from "../src/plot";

const f64 = (...numbers: number[]): Float64Array => Float64Array.from(numbers);

describe("numbers", () => {
  it("steps by 1, 2 or 5", () => {
    expect([niceStep(10, 5), niceStep(9, 2), niceStep(0.3, 4), niceStep(0, 4)]).toEqual([2, 5, 0.1, 1]);
  });

  it("puts ticks on multiples of the step", () => {
    expect(ticks(-1, 1, 4)).toEqual([-1, -0.5, 0, 0.5, 1]);
    expect(ticks(0.1, 0.2, 1).length).toBeLessThan(3);
  });

  it("writes ticks with the decimals of their step", () => {
    expect([tickText(-0.5, 0.5), tickText(2, 1), tickText(0, 1e-6), tickText(2e6, 1e6)]).toEqual([
      "−0.5",
      "2",
      "0",
      "2.0e6",
    ]);
  });

  it("writes values with four digits", () => {
    expect([0, -1.23456, 12.3456, 1e-5, 123456, NaN].map(valueText)).toEqual([
      "0.000",
      "−1.235",
      "12.35",
      "1.00e−5",
      "1.23e5",
      "–",
    ]);
  });
});

describe("plots", () => {
  const area: Area = { width: 400, height: 150, x: [0, 10], y: [-1, 1] };

  it("has times at columns and back", () => {
    expect(timeOf(area, xOf(area, 3.25))).toBeCloseTo(3.25, 9);
    expect(yOf(area, 1)).toBeLessThan(yOf(area, -1));
  });

  it("has a range that is never empty", () => {
    const series = (...values: number[]) => ({ t: f64(), columns: 1, values: f64(...values) });
    for (const values of [[], [0], [5, 5], [NaN], [1, 2]]) {
      const [low, high] = rangeOf([series(...values)]);
      expect(high).toBeGreaterThan(low);
    }
    const [low, high] = rangeOf([series(1, NaN), series(3)]);
    expect([low <= 1, high >= 3]).toEqual([true, true]);
  });

  it("keeps every peak of a long series", () => {
    const rows = 100_000;
    const values = Float64Array.from({ length: rows }, (_, row) => (row === 54_321 ? 9 : row === 7 ? -9 : 0));
    const t = Float64Array.from({ length: rows }, (_, row) => row / rows);
    const kept = thinned({ t, columns: 1, values }, 0, [0, 1], 300);
    expect(kept.length).toBeLessThan(4 * 300 + 1);
    expect(kept).toEqual([...kept].sort((a, b) => a - b));
    expect([7, 54_321, 0, rows - 1].every((row) => kept.includes(row))).toBe(true);
  });

  it("keeps all rows of a short one", () => {
    expect(thinned({ t: f64(0, 1, 1), columns: 1, values: f64(1, 2, 3) }, 0, [0, 1], 300)).toEqual([0, 1, 2]);
  });
});
