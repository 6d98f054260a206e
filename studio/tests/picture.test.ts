import { expect, it } from "vitest";

import { edgesOf, nodesOf } from "../src/canvas/nodes";
import { svgOf } from "../src/canvas/picture";
import { block, sheet, wire } from "./samples";

it("a picture holds each block and each wire, and its texts as texts", () => {
  const picture = svgOf(sheet([block("a<b", { face: { glyph: "", over: "K & L", under: "" } }), block("c", { x: 200, look: "subsystem" })], [wire("a.y", "c.u")]));
  expect(picture).toContain(">a&lt;b</text>");
  expect(picture).toContain(">K &amp; L</text>");
  expect(picture).toContain('viewBox="-24 -24 328 108"');
  expect(picture.match(/<g><rect/g)).toHaveLength(2);
  expect(picture).toContain('d="M80 30L194 30"');
});

it("blocks and wires that have not changed are not drawn again", () => {
  const first = sheet([block("a"), block("b", { x: 200 })], [wire("a.y", "b.u")]);
  const nodes = nodesOf(first, [], []);
  const edges = edgesOf(first, [], []);
  const second = structuredClone(first);
  second.blocks[1]!.x = 300;
  const moved = nodesOf(second, [], nodes);
  expect(moved[0]).toBe(nodes[0]);
  expect(moved[1]).not.toBe(nodes[1]);
  expect(moved[1]!.position.x).toBe(300);
  expect(edgesOf(second, [], edges)[0]).toBe(edges[0]);
  expect(nodesOf(second, ["a"], moved)[0]!.selected).toBe(true);
  expect(edgesOf(second, [edges[0]!.id], edges)[0]!.selected).toBe(true);
});
