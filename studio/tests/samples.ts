// Sheets for tests.

import type { Sheet, SheetBlock, SheetWire } from "../src/protocol";

export function block(name: string, more: Partial<SheetBlock> = {}): SheetBlock {
  const port = (of: string) => ({ name: of, label: of, offset: 30, wired: false, shape: "", unit: "", doc: "", bus: false });
  return {
    name, type: "GAIN", look: "function", x: 0, y: 0, width: 80, height: 60, moved: false,
    inputs: [port("u")], outputs: [port("y")], opens: null, file: null, clock: null, centre: 40, facing: "right", colour: null, named: true, face: { glyph: "", over: "", under: "" }, problems: [], ...more,
  };
}

export function wire(source: string, target: string, more: Partial<SheetWire> = {}): SheetWire {
  const end = (text: string) => ({ block: text.split(".")[0]!, port: text.split(".")[1]?.replace(/\[.*/, "") ?? "" });
  return { source, target, from: end(source), to: end(target), points: [[80, 30], [200, 30]], signal: null, bus: [], problems: [], ...more };
}

export function sheet(blocks: SheetBlock[], wires: SheetWire[] = []): Sheet {
  return { at: "", within: "", version: 1, runs: [], blocks, wires, notes: [], areas: [] };
}
