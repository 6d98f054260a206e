import { expect, it } from "vitest";

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
