import { describe, expect, it } from "vitest";

import { Column } from "../src/run/column";
import { RunRecord } from "../src/run/record";
import { heightOf, thinned } from "../src/scopes/thinning";

const told = (signals: [string, number][], rows: number[][]) => ({
  header: { signals: signals.map(([name, width]) => ({ name, width })), rows: rows.length },
  numbers: Float64Array.from(rows.flat()),
});

/** Numbers of a fixed sequence between -1 and 1. */
function noise(count: number): number[] {
  let state = 12345;
  return Array.from({ length: count }, () => {
    state = (1103515245 * state + 12345) % 2147483648;
    return state / 1073741824 - 1;
  });
}

describe("Column", () => {
  it("has the extremes of every stretch", () => {
    const values = noise(5000);
    const column = new Column();
    values.forEach((value) => column.push(value));
    const ends = noise(400).map((share) => Math.floor(((share + 1) / 2) * 5000));
    for (let k = 0; k + 1 < ends.length; k++) {
      const [from, to] = [Math.min(ends[k]!, ends[k + 1]!), Math.max(ends[k]!, ends[k + 1]!) + 1];
      const part = values.slice(from, to);
      expect(column.extremes(from, to)).toEqual({ low: Math.min(...part), high: Math.max(...part) });
    }
  });

  it("leaves out what is no number", () => {
    const column = new Column();
    [NaN, 3, Infinity, -2].forEach((value) => column.push(value));
    column.pad(40);
    expect(column.extremes(0, 44)).toEqual({ low: -2, high: 3 });
    expect(column.extremes(4, 44)).toEqual({ low: NaN, high: NaN });
  });
});

describe("RunRecord", () => {
  it("keeps rows in order and each once", () => {
    const record = new RunRecord();
    record.append(told([["a", 1], ["q", 2]], [[0, 1, 2, 3], [1, 2, 4, 6]]));
    record.append(told([["a", 1], ["q", 2]], [[0.5, 9, 9, 9], [2, 3, 6, 9]]));
    expect([...record.tableOf("a")!.t.view()]).toEqual([0, 1, 2]);
    expect(record.at("q", 1.5)).toEqual([5, 7.5]);
    expect(record.at("q", -1)).toEqual([2, 3]);
    expect(record.at("q", 9)).toEqual([6, 9]);
    expect(record.at("nothing", 0)).toEqual([]);
    expect(record.end()).toBe(2);
  });

  it("takes the later row of a jump", () => {
    const record = new RunRecord();
    record.append(told([["a", 1]], [[0, 0], [1, 1], [1, 5], [2, 6]]));
    expect(record.at("a", 1)).toEqual([5]);
    expect(record.at("a", 0.5)).toEqual([0.5]);
  });

  it("keeps a bounded number of rows, thinned evenly, with their extremes", () => {
    const [count, most] = [50_000, 12_000];
    const record = new RunRecord(most);
    const values = noise(count);
    for (let row = 0; row < count; row += 50) {
      record.append(told([["a", 1], ["t", 1]], values.slice(row, row + 50).map((value, k) => [row + k, value, -row - k])));
      expect(3 * record.tableOf("a")!.t.length).toBeLessThanOrEqual(most);
    }
    const { t, columns, thinned } = record.tableOf("a")!;
    expect(thinned).toBe(true);
    const times = [...t.view()];
    expect([times[0], times.at(-1)]).toEqual([0, count - 1]);
    const gaps = times.slice(1).map((time, k) => time - times[k]!);
    expect(Math.min(...gaps)).toBeGreaterThan(0);
    expect(Math.max(...gaps)).toBeLessThan(64);
    expect(columns.get("a")![0]!.extremes(0, times.length)).toEqual({ low: Math.min(...values), high: Math.max(...values) });
    for (const time of [17, 20_000.5, 49_999]) expect(Math.abs(record.at("t", time)[0]! + time)).toBeLessThan(1e-9);
  });

  it("has gaps where a signal was not watched", () => {
    const record = new RunRecord();
    record.append(told([["a", 1]], [[0, 1]]));
    record.append(told([["b", 1]], [[1, 2]]));
    expect(record.at("a", 1)).toEqual([NaN]);
    expect(record.at("b", 0)).toEqual([NaN]);
    expect(record.at("b", 1)).toEqual([2]);
  });

  it("takes answers in place of what was told, unless more was told meanwhile", () => {
    const record = new RunRecord();
    record.append(told([["a", 1]], [[0, 0], [1, 1]]));
    record.replace(told([["a", 1]], [[0, 10], [0.5, 10], [1, 10]]));
    expect(record.at("a", 0.5)).toEqual([10]);
    const late = new RunRecord();
    late.append(told([["a", 1]], [[0, 0], [1, 1]]));
    late.replace(told([["a", 1]], [[0, 10]]));
    expect(late.at("a", 0)).toEqual([0]);
  });
});

describe("thinned", () => {
  const line = (t: number[], values: number[]): [Float64Array, Column] => {
    const column = new Column();
    values.forEach((value) => column.push(value));
    return [Float64Array.from(t), column];
  };

  it("keeps the first, last and extreme values of each column of pixels", () => {
    const values = noise(10_000);
    const t = values.map((_, row) => row / 1000);
    const [from, to, count] = [2.0003, 7.0003, 50];
    const points = thinned(...line(t, values), [from, to], count);
    expect(points.length).toBe(2 * (4 * count + 2));
    const wide = (to - from) / count;
    for (let cell = 0; cell < count; cell++) {
      const isHere = (time: number): boolean => time >= from + cell * wide && time < from + (cell + 1) * wide;
      const inside = values.filter((_, row) => isHere(t[row]!));
      const drawn = points.slice(2).filter((_, at) => at % 2 === 1 && isHere(points[at + 1]!));
      expect(drawn).toHaveLength(4);
      expect([drawn[0], drawn[3]]).toEqual([inside[0], inside.at(-1)]);
      expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([Math.min(...inside), Math.max(...inside)]);
    }
  });

  it("keeps all rows where there is room, and goes on to the edges", () => {
    expect(thinned(...line([0, 1, 2, 3], [0, 10, 20, 30]), [0.5, 1.5], 4)).toEqual([0.5, 5, 1, 10, 1.5, 15]);
    expect(thinned(...line([0, 1, 1, 2], [0, 0, 5, 5]), [0, 2], 2)).toEqual([0, 0, 1, 0, 1, 5, 2, 5]);
    expect(thinned(...line([], []), [0, 1], 2)).toEqual([]);
    expect(thinned(...line([0, 1], [1, 2]), [5, 6], 2)).toEqual([]);
  });

  it("has breaks where there is no value", () => {
    const points = thinned(...line([0, 1, 2], [0, NaN, 2]), [0, 2], 300);
    expect(points).toEqual([0, 0, 1, NaN, 2, 2]);
    expect(heightOf(points, [0, 2])).toEqual([0, 2]);
    expect(heightOf(points, [0.5, 1.5])).toEqual([null, null]);
  });
});
