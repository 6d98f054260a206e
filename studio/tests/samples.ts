// Sheets for tests.

import type { Sheet, SheetBlock, SheetWire } from "../src/protocol";

export function block(name: string, more: Partial<SheetBlock> = {}): SheetBlock {
  const port = (of: string) => ({ name: of, label: of, offset: 30, wired: false, shape: "", unit: "", doc: "", bus: false });
  return {
    name, type: "GAIN", look: "function", x: 0, y: 0, width: 80, height: 60, moved: false,
    inputs: [port("u")], outputs: [port("y")], further: [], opens: null, file: null, clock: null, centre: 40, facing: "right", colour: null, named: true, face: { glyph: "", over: "", under: "" }, problems: [], ...more,
  };
}

export function wire(source: string, target: string, more: Partial<SheetWire> = {}): SheetWire {
  const end = (text: string) => ({ block: text.split(".")[0]!, port: text.split(".")[1]?.replace(/\[.*/, "") ?? "" });
  return { source, target, from: end(source), to: end(target), points: [[80, 30], [200, 30]], signal: null, bus: [], problems: [], ...more };
}

export function sheet(blocks: SheetBlock[], wires: SheetWire[] = []): Sheet {
  return { at: "", within: "", version: 1, runs: [], blocks, wires, notes: [], areas: [] };
}

/** Blocks in rows, each wired to the next. */
export function rows(count: number, columns = 20): Sheet {
  const at = (k: number) => ({ x: 140 * (k % columns), y: 80 * Math.floor(k / columns) });
  const blocks = Array.from({ length: count }, (_, k) => block(`b${k}`, at(k)));
  const wires = blocks.slice(1).flatMap((_, k) => (k % columns === columns - 1 ? [] : [wire(`b${k}.y`, `b${k + 1}.u`, {
    points: [[at(k).x + 80, at(k).y + 30], [at(k + 1).x, at(k + 1).y + 30]],
  })]));
  return sheet(blocks, wires);
}
