import { describe, expect, it } from "vitest";

import { aligned } from "../src/canvas/align";
import { boundsOf, branchDots, freePlace, labelPlace, lineThrough, simpleRoute, wireKey } from "../src/canvas/geometry";
import type { Point, SheetWire } from "../src/protocol";

const boxes = [
  { name: "a", x: 0, y: 0, width: 40, height: 20 },
  { name: "b", x: 100, y: 30, width: 20, height: 60 },
  { name: "c", x: 70, y: 200, width: 60, height: 20 },
];

function wire(points: Point[], to = "b"): SheetWire {
  return {
    source: "a.y", target: `${to}.u`, from: { block: "a", port: "y" }, to: { block: to, port: "u" },
    points, signal: null, bus: [], problems: [],
  };
}

describe("bounds", () => {
  it("holds all blocks and wires", () => {
    expect(boundsOf(boxes)).toEqual({ x: 0, y: 0, width: 130, height: 220 });
    expect(boundsOf(boxes, [wire([[-10, 5], [10, 400]])])).toEqual({ x: -10, y: 0, width: 140, height: 400 });
    expect(boundsOf([])).toBeNull();
  });
});

describe("alignment", () => {
  it.each([
    ["left", { a: [0, 0], b: [0, 30], c: [0, 200] }],
    ["right", { a: [90, 0], b: [110, 30], c: [70, 200] }],
    ["centre", { a: [45, 0], b: [55, 30], c: [35, 200] }],
    ["top", { a: [0, 0], b: [100, 0], c: [70, 0] }],
    ["bottom", { a: [0, 200], b: [100, 160], c: [70, 200] }],
    ["middle", { a: [0, 100], b: [100, 80], c: [70, 100] }],
  ] as const)("%s", (how, places) => expect(aligned(boxes, how)).toEqual(places));

  it("leaves equal gaps, and the outer blocks where they are", () => {
    const across = [boxes[0]!, { name: "m", x: 41, y: 5, width: 20, height: 9 }, { name: "z", x: 200, y: 0, width: 40, height: 9 }];
    expect(aligned(across, "across")).toEqual({ a: [0, 0], m: [110, 5], z: [200, 0] });
    const { a, b, c } = aligned(boxes, "down");
    expect([a, c]).toEqual([[0, 0], [70, 200]]);
    expect(b![1] - 20).toBe(200 - (b![1] + 60));
  });
});

describe("routes", () => {
  it("go on right angles from output to input", () => {
    for (const end of [[200, 0], [200, 80], [-50, 10], [10, 300], [25, -5]] as Point[]) {
      const route = simpleRoute([0, 0], end);
      expect(route[0]).toEqual([0, 0]);
      expect(route.at(-1)).toEqual(end);
      for (let k = 1; k < route.length; k++) {
        expect(route[k]![0] === route[k - 1]![0] || route[k]![1] === route[k - 1]![1]).toBe(true);
      }
      expect(route[1]![0]).toBeGreaterThan(0); // leaves to the right
      expect(route.at(-2)![0]).toBeLessThan(end[0]); // arrives from the left
    }
  });

  it("are drawn from their first to their last point", () => {
    expect(lineThrough([[0, 0], [50, 0]])).toBe("M0 0L50 0");
    expect(lineThrough([[0, 0], [50, 0], [50, 40]])).toBe("M0 0L46 0Q50 0 50 4L50 40");
    expect(lineThrough([[0, 0], [4, 0], [4, 40]])).toBe("M0 0L2 0Q4 0 4 2L4 40");
    expect(lineThrough([])).toBe("");
  });

  it("have dots where they part, and none at corners or ends", () => {
    const straight = wire([[0, 0], [100, 0]]);
    const down = wire([[0, 0], [40, 0], [40, 60], [100, 60]], "c");
    const [dots] = [...branchDots([straight, down]).values()];
    expect(dots).toEqual([[40, 0]]);
    expect(branchDots([down]).size).toBe(0);
    const up = wire([[0, 0], [40, 0], [40, -60], [100, -60]], "d");
    expect([...branchDots([straight, down, up]).values()]).toEqual([[[40, 0]]]);
    expect([...branchDots([down, up]).values()]).toEqual([[[40, 0]]]);
  });

  it("have room for a text on their longest level part", () => {
    expect(labelPlace([[0, 0], [10, 0], [10, 90], [60, 90], [60, 0]])).toEqual({ at: [10 + 50 / 3, 90], room: 50 });
  });
});

describe("a free place", () => {
  it("is the wanted one, or below what covers it", () => {
    expect(freePlace([300, 300], 120, 70, boxes)).toEqual([300, 300]);
    const [x, y] = freePlace([0, 0], 120, 70, boxes);
    expect(x).toBe(0);
    for (const box of boxes) {
      expect(box.x < 120 && box.x + box.width > 0 && box.y < y + 70 && box.y + box.height > y).toBe(false);
    }
  });
});

describe("names of wires", () => {
  it("are their own for each pair of ports of a wire that is written once", () => {
    const whole = { source: "a.*", target: "b", to: { block: "b", port: "x" } };
    const keys = ["x", "y"].map((port) => wireKey({ ...whole, from: { block: "a", port } }));
    expect(new Set(keys).size).toBe(2);
  });
});
