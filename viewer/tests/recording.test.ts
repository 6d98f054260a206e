import { describe, expect, it } from "vitest";

import { type Packed, readMotion, unpack } from "../src/recording";

const base64 = (array: ArrayBufferView): string =>
  btoa(String.fromCharCode(...new Uint8Array(array.buffer)));

const packed = (type: Packed["type"], array: ArrayBufferView, shape: number[]): Packed => ({
  type,
  shape,
  data: base64(array),
});

describe("unpack", () => {
  it("reads columns of byte planes", () => {
    // 1, 2 | 259, 4 | -1, 6 as 16-bit integers.
    const planes = [1, 3, 255, 2, 4, 6, 0, 1, 255, 0, 0, 0];
    const data = btoa(String.fromCharCode(...planes));
    const table = unpack({ type: "i16", shape: [3, 2], data, planes: true });
    expect([...table.values]).toEqual([1, 2, 259, 4, -1, 6]);
  });

  it("reads every type of number", () => {
    const numbers: [Packed["type"], ArrayBufferView, number[]][] = [
      ["f32", Float32Array.of(1.5, -2), [1.5, -2]],
      ["f64", Float64Array.of(0.1, 1e300), [0.1, 1e300]],
      ["i32", Int32Array.of(-70000, 7), [-70000, 7]],
      ["i16", Int16Array.of(-300, 7), [-300, 7]],
      ["u32", Uint32Array.of(4e9, 7), [4e9, 7]],
      ["u16", Uint16Array.of(60000, 7), [60000, 7]],
      ["u8", Uint8Array.of(200, 7), [200, 7]],
    ];
    for (const [type, array, want] of numbers) {
      expect([...unpack(packed(type, array, [2])).values]).toEqual(want);
    }
  });

  it("adds rows up by column, then scales and shifts", () => {
    const table = unpack({
      ...packed("i16", Int16Array.of(1, 10, 2, -20, 3, 30), [3, 2]),
      delta: true,
      scale: 0.5,
      offset: [100, 200],
    });
    expect([table.rows, table.columns]).toEqual([3, 2]);
    expect([...table.values]).toEqual([100.5, 205, 101.5, 195, 103, 210]);
  });

  it("refuses data that does not fill its shape", () => {
    expect(() => unpack(packed("f32", Float32Array.of(1, 2), [3]))).toThrow("3 x 1");
  });

  it("takes a table without rows", () => {
    expect(unpack(packed("f32", new Float32Array(0), [0, 3])).rows).toBe(0);
  });
});

const still = {
  t: packed("f64", Float64Array.of(0), [1]),
  p: packed("f64", Float64Array.of(1, 2, 3), [1, 3]),
  q: packed("f64", Float64Array.of(0, 0, 2, 0), [1, 4]),
};

describe("readMotion", () => {
  const recording = { format: 1, name: "m", start: 0, end: 1, reach: 1 };

  it("fills in what is left out and makes quaternions unit", () => {
    const motion = readMotion({ ...recording, bodies: [{ name: "base", track: still }] });
    expect([...motion.bodies[0]!.track.q]).toEqual([0, 0, 1, 0]);
    expect(motion).toMatchObject({ up: "z", arrows: [], signals: [], meshes: [], diagram: "" });
  });

  it("tells bodies of one name apart by their robots", () => {
    const body = { name: "base", track: still };
    const bodies = [{ ...body, robot: "a" }, { ...body, robot: "b" }, { ...body, name: "tip", robot: "a" }];
    const motion = readMotion({ ...recording, bodies });
    expect(motion.bodies.map(({ name }) => name)).toEqual(["a.base", "b.base", "tip"]);
  });

  it("refuses another format", () => {
    expect(() => readMotion({ ...recording, format: 2, bodies: [] })).toThrow("not 2");
  });
});
