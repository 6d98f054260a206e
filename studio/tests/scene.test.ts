import { describe, expect, it } from "vitest";

import { edgesOf, nodesOf } from "../src/canvas/nodes";
import { blockAt, blocksIn, kept, sceneOf, wireNear, wiresIn, wiresOf } from "../src/canvas/scene";
import { isSmall, nextShown, pinnedIn, wantedIn } from "../src/canvas/shown";
import { block, rows, sheet, wire } from "./samples";

const VIEW = { x: 0, y: 0, zoom: 1, width: 800, height: 600 };

describe("what lies where", () => {
  const scene = sceneOf(rows(2000));

  it("is found without looking at all of it", () => {
    expect(blocksIn(scene, { x: 130, y: 10, width: 160, height: 20 }).map((k) => scene.blocks[k]!.name)).toEqual(["b1", "b2"]);
    expect(wiresIn(scene, { x: 90, y: 20, width: 10, height: 20 }).map((k) => scene.wires[k]!.id)).toEqual(["b0.y -> b1.u"]);
    expect(blockAt(scene, [150, 90])?.name).toBe("b21");
    expect(blockAt(scene, [130, 90])).toBeUndefined();
    expect(wireNear(scene, [100, 35], 6)?.id).toBe("b0.y -> b1.u");
    expect(wireNear(scene, [100, 40], 6)).toBeUndefined();
    expect(wiresOf(scene, ["b5", "b6"]).map(({ id }) => id)).toEqual(["b4.y -> b5.u", "b5.y -> b6.u", "b6.y -> b7.u"]);
  });
});

describe("elements of the page", () => {
  it("are all blocks of a small sheet, and of a large one those that are seen and can be read", () => {
    const [small, large] = [sceneOf(rows(150)), sceneOf(rows(2000))];
    expect([isSmall(small), isSmall(large)]).toEqual([true, false]);
    expect(wantedIn(small, VIEW).blocks.size).toBe(150);
    const { blocks, wires } = wantedIn(large, VIEW);
    expect([blocks.size, wires.size]).toEqual([70, 63]);
    expect(wantedIn(large, { ...VIEW, zoom: 0.3 }).blocks.size).toBe(0);
  });

  it("are made some at a time", () => {
    const wanted = wantedIn(sceneOf(rows(2000)), VIEW);
    let [shown, steps] = [{ blocks: new Set<string>(), wires: new Set<string>() }, 0] as [ReturnType<typeof nextShown>, number];
    for (let next = nextShown(shown, wanted); next !== shown; next = nextShown(shown, wanted)) {
      expect(next.blocks.size + next.wires.size - shown.blocks.size - shown.wires.size).toBeLessThan(15);
      [shown, steps] = [next, steps + 1];
    }
    expect([[...shown.blocks].sort(), [...shown.wires].sort()]).toEqual([[...wanted.blocks].sort(), [...wanted.wires].sort()]);
    expect(steps).toBe(10);
  });

  it("are the blocks that Tab leads to, and the selected ones", () => {
    const scene = sceneOf(rows(2000));
    expect(pinnedIn(scene, [], null)).toEqual(["b0", "b1999"]);
    expect(pinnedIn(scene, ["b7"], "b7")).toEqual(["b0", "b6", "b7", "b8", "b1999", "b7", "b7"]);
    expect(pinnedIn(scene, scene.blocks.map(({ name }) => name), null)).toEqual(["b0", "b1998", "b1999", "b1999"]);
  });

  it("have the ends of their wires with them, hidden", () => {
    const scene = sceneOf(rows(2000));
    const edges = edgesOf(scene, new Set(["b4.y -> b5.u"]), [], []);
    const nodes = nodesOf(scene, new Set(["b5"]), edges, ["b5"], []);
    expect(nodes.map(({ id, hidden, selected }) => [id, hidden, selected])).toEqual([["b4", true, false], ["b5", false, true]]);
  });
});

describe("a changed sheet", () => {
  const first = sheet([block("a"), block("b", { x: 200 })], [wire("a.y", "b.u")]);
  const names = new Set(["a", "b"]);
  const ids = new Set(["a.y -> b.u"]);
  const edges = edgesOf(sceneOf(first), ids, [], []);
  const nodes = nodesOf(sceneOf(first), names, edges, [], []);
  const other = structuredClone(first);
  other.blocks[1]!.x = 300;
  const second = kept(first, other);

  it("draws only what has changed", () => {
    const after = nodesOf(sceneOf(second), names, edges, [], nodes);
    expect(after[0]).toBe(nodes[0]);
    expect(after[1]).not.toBe(nodes[1]);
    expect(after[1]!.position.x).toBe(300);
    expect(edgesOf(sceneOf(second), ids, [], edges)[0]).toBe(edges[0]);
    expect(nodesOf(sceneOf(second), names, edges, ["a"], after)[0]!.selected).toBe(true);
    expect(edgesOf(sceneOf(second), ids, [edges[0]!.id], edges)[0]!.selected).toBe(true);
  });

  it("leaves a block where it was moved to until it is served there", () => {
    const moved = nodes.map((node) => ({ ...node, position: { x: 50, y: 60 } }));
    const after = nodesOf(sceneOf(second), names, edges, ["a"], moved);
    expect(after.map(({ position }) => position)).toEqual([{ x: 50, y: 60 }, { x: 300, y: 0 }]);
  });
});
