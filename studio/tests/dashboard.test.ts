import { describe, expect, it } from "vitest";

import { Column } from "../src/run/column";
import { amplitudes, peakOf, spectrumOf } from "../src/dashboard/spectrum";
import { asKind, KINDS, moved, movedTo, newWidget, readWidgets, type Widget, withName, withWidget } from "../src/dashboard/widgets";
import { pointsOf } from "../src/dashboard/xy";

// numpy: k = arange(64); x = 3 + 2 sin(2 pi 8 k / 64) + 0.5 cos(2 pi 20.5 k / 64) + 0.1 k;
// w = 0.5 (1 - cos(2 pi k / 64)); a = 2 abs(fft.rfft((x - x.mean()) w)) / w.sum(), the ends halved
const BY_NUMPY = [0.0421875, 1.52846479767, 0.339540771184, 0.0848986663497, 0.0339758005842, 0.0170073593318, 0.00974178920525, 0.993883052203, 2.00411317181, 0.997075839319, 0.00218587613749, 0.00172040758682, 0.00143928348157, 0.00130607312639, 0.00132887397173, 0.00158451031268, 0.00232531016435, 0.00444665374981, 0.0124648532514, 0.0851687189576, 0.424169697355, 0.424621910524, 0.0847024518685, 0.0119694348951, 0.0039047542823, 0.00171585344096, 0.000880577739645, 0.000494615756169, 0.000291927864046, 0.000174250039703, 9.89964647881e-05, 4.50104305982e-05, 6.93889390391e-17];

function columnOf(t: Float64Array, value: (time: number) => number): Column {
  const column = new Column();
  t.forEach((time) => column.push(value(time)));
  return column;
}

describe("a spectrum", () => {
  it("is that of numpy", () => {
    const n = 64;
    const samples = Float64Array.from({ length: n }, (_, k) =>
      3 + 2 * Math.sin((2 * Math.PI * 8 * k) / n) + 0.5 * Math.cos((2 * Math.PI * 20.5 * k) / n) + 0.1 * k);
    const found = amplitudes(samples);
    expect(found.length).toBe(BY_NUMPY.length);
    found.forEach((one, k) => expect(one).toBeCloseTo(BY_NUMPY[k]!, 11));
  });

  it("has the amplitude and the frequency of a sine, at uneven times too", () => {
    const t = Float64Array.from({ length: 3000 }, (_, k) => k / 300 + (k % 2) * 0.001);
    const spectrum = spectrumOf(t, columnOf(t, (time) => 5 + 2 * Math.sin(2 * Math.PI * 7 * time)), 0, 10)!;
    expect(spectrum.count).toBe(4096);
    expect(Math.max(...spectrum.amplitude)).toBeCloseTo(2, 1);
    expect(peakOf(spectrum)).toBeCloseTo(7, 2);
    expect(spectrum.f.at(-1)!).toBeLessThanOrEqual(150.1); // half the rate of the rows
  });

  it("is none of a few rows", () => {
    const t = Float64Array.of(0, 1, 2);
    expect(spectrumOf(t, columnOf(t, () => 1), 0, 2)).toBe(null);
    expect(spectrumOf(t, columnOf(t, () => 1), 2, 2)).toBe(null);
  });
});

describe("points of one signal over another", () => {
  const t = Float64Array.from({ length: 1001 }, (_, k) => k / 100);
  const table = {};
  const x = { table, t, column: columnOf(t, Math.cos) };

  it("are all rows, or evenly some with the last", () => {
    const y = { table, t, column: columnOf(t, Math.sin) };
    expect(pointsOf(x, y).x.length).toBe(1001);
    const few = pointsOf(x, y, 100);
    expect(few.x.length).toBeLessThanOrEqual(101);
    expect([few.x.at(-1), few.y.at(-1)]).toEqual([Math.cos(10), Math.sin(10)]);
    few.x.forEach((one, k) => expect(Math.hypot(one, few.y[k]!)).toBeCloseTo(1, 12));
  });

  it("of two tables are at the times of x", () => {
    const other = Float64Array.of(0, 20);
    const y = { table: {}, t: other, column: columnOf(other, (time) => time) };
    expect(pointsOf(x, y).y[500]).toBeCloseTo(5, 12);
  });
});

describe("widgets", () => {
  const one = (id: number): Widget => ({ ...newWidget("display"), id, of: ["x"] });
  const all = [one(1), one(2), one(3)];
  const ids = (widgets: readonly Widget[]): number[] => widgets.map(({ id }) => id);

  it("are read as they were kept; what is none is left out", () => {
    const kept = JSON.parse(JSON.stringify([...all, { ...one(2) }, null, { id: 4 }, { ...one(5), kind: "toString" }, { ...one(6), of: [1] }, { ...one(7), wide: 99, high: -1 }]));
    expect(ids(readWidgets(kept))).toEqual([1, 2, 3, 7]);
    expect(readWidgets(kept)[3]).toMatchObject({ wide: 12, high: 1 });
    expect([readWidgets(undefined), readWidgets({}), readWidgets("x")]).toEqual([[], [], []]);
  });

  it("are moved by places and to others", () => {
    expect(ids(moved(all, 1, 1))).toEqual([2, 1, 3]);
    expect(ids(moved(all, 1, -1))).toEqual([1, 2, 3]);
    expect(ids(moved(all, 1, 9))).toEqual([2, 3, 1]);
    expect(ids(movedTo(all, 1, 3, false))).toEqual([2, 1, 3]);
    expect(ids(movedTo(all, 3, 1, false))).toEqual([3, 1, 2]);
    expect(ids(movedTo(all, 1, 1, true))).toEqual([1, 2, 3]);
    expect(ids(withWidget(all, newWidget("lamp")))).toEqual([1, 2, 3, 4]);
  });

  it("are bound to as many names as their kind takes", () => {
    let xy = newWidget("xy");
    for (const name of ["a", "b", "c"]) xy = withName(xy, name);
    expect(xy.of).toEqual(["a", "c"]);
    expect(withName(xy, "a").of).toEqual(["c"]);
    expect(asKind(xy, "gauge").of).toEqual(["a"]);
    expect(asKind(xy, "knob").of).toEqual([]);
    expect(Object.keys(KINDS).length).toBe(10);
  });
});
