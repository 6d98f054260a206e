import { describe, expect, it } from "vitest";

import { type Colours, painting, type Shifted } from "../src/canvas/paint";
import { changedBoxes } from "../src/canvas/painted";
import { blocksIn, kept, sceneOf, wiresIn } from "../src/canvas/scene";
import { rows } from "./samples";

const PLAIN: Shifted = { selected: new Set(), chosen: new Set(), moved: new Map(), absent: { blocks: new Set(), wires: new Set() } };
const COLOURS: Colours = {
  ink: "", muted: "", accent: "", fault: "", wire: "",
  looks: new Proxy({}, { get: () => ["", ""] }) as Colours["looks"],
};
const WHOLE = { x: -1e5, y: -1e5, width: 2e5, height: 2e5 };

/** A brush that counts what it is asked for. */
function counter() {
  const counts = { calls: 0, texts: [] as string[], rects: 0 };
  const brush = new Proxy({}, {
    get: (_, name) => (...given: unknown[]) => {
      counts.calls += 1;
      if (name === "fillText") counts.texts.push(String(given[0]));
      if (name === "fillRect") counts.rects += 1;
    },
    set: () => true,
  }) as CanvasRenderingContext2D;
  return { counts, brush };
}

describe("the picture of a large sheet", () => {
  const scene = sceneOf(rows(10_000));

  it("is painted in small steps, which together paint each block and wire once", () => {
    for (const [zoom, most] of [[0.05, 250], [0.4, 900], [1, 900]] as const) {
      const { counts, brush } = counter();
      let [steps, before, largest] = [0, 0, 0];
      for (const _ of painting(brush, scene, [WHOLE], zoom, COLOURS, PLAIN)) {
        largest = Math.max(largest, counts.calls - before);
        [before, steps] = [counts.calls, steps + 1];
      }
      expect(largest).toBeLessThan(most);
      expect(steps).toBeGreaterThan(150);
      if (zoom < 0.2) expect(counts.rects).toBe(9_500 + 2 * 10_000);
      else expect(new Set(counts.texts.filter((text) => text.startsWith("b"))).size).toBe(10_000);
    }
  });

  it("is asked for what lies in a part of it, or in all of it, in order", () => {
    expect(blocksIn(scene, WHOLE)).toHaveLength(10_000);
    expect(wiresIn(scene, WHOLE)).toHaveLength(9_500);
    const most = { x: -10, y: 70, width: 1e5, height: 1e5 };
    const found = blocksIn(scene, most);
    expect(found).toEqual([...found].sort((a, b) => a - b));
    expect(found).toHaveLength(9_980);
    expect(blocksIn(scene, { x: -900, y: -900, width: 100, height: 100 })).toEqual([]);
  });
});

describe("what is painted anew", () => {
  const before = rows(2000);
  const scene = sceneOf(before);
  const drawn = { scene, what: PLAIN };

  it("is nothing where nothing has changed, and what the pointer has come to", () => {
    expect(changedBoxes(drawn, { scene, what: { ...PLAIN } }, 1)).toEqual([]);
    const absent = { blocks: new Set(["b1"]), wires: new Set(["b4.y -> b5.u"]) };
    expect(changedBoxes(drawn, { scene, what: { ...PLAIN, absent } }, 1)).toEqual([
      { x: 132, y: -8, width: 96, height: 76 }, { x: 632, y: 22, width: 76, height: 16 },
    ]);
  });

  it("is a block that is dragged with its wires, and where it comes to", () => {
    const moved = new Map([["b5", [10, 10] as [number, number]]]);
    expect(changedBoxes(drawn, { scene, what: { ...PLAIN, moved } }, 1)).toHaveLength(3);
    const after = kept(before, { ...before, blocks: before.blocks.map((one) => (one.name === "b5" ? { ...one, x: one.x + 10 } : { ...one })) });
    const boxes = changedBoxes(drawn, { scene: sceneOf(after), what: PLAIN }, 1)!;
    expect(boxes.map(({ x }) => x)).toEqual([692, 702]);
    const less = { ...before, blocks: before.blocks.slice(1), wires: before.wires.slice(1) };
    expect(changedBoxes(drawn, { scene: sceneOf(less), what: PLAIN }, 1)).toHaveLength(2);
  });

  it("is all where much has changed", () => {
    expect(changedBoxes(drawn, { scene, what: { ...PLAIN, selected: new Set(scene.at.keys()) } }, 1)).toBeNull();
    expect(changedBoxes(drawn, { scene: sceneOf(rows(1500, 10)), what: PLAIN }, 1)).toBeNull();
  });
});
