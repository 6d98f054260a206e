// Faces of blocks as lines and texts, for the page and for saved pictures.

import type { BlockFace, SheetBlock } from "../protocol";

interface Line {
  path: string;
  /** Axes, which are thinner and paler than what is drawn over them. */
  axis?: true;
}

interface Words {
  x: number;
  y: number;
  text: string;
  anchor: "start" | "middle";
}

/** A face around the point 0, 0 [px]. */
export interface FaceShapes {
  width: number;
  height: number;
  lines: readonly Line[];
  words: readonly Words[];
}

export function hasFace({ face: { glyph, over } }: SheetBlock): boolean {
  return glyph !== "" || over !== "";
}

/** Whether the face says what kind of block this is, without the name of its type. */
export function isTelling({ face: { glyph, under }, look }: SheetBlock): boolean {
  return look !== "subsystem" && (glyph !== "" || under !== "");
}

const [WIDE, HIGH] = [36, 24];
/** The width of a letter of FONT pixels in a monospaced font. */
const LETTER = 6.3;
export const FONT = 10;
const GAP = 6;
const BASELINE = 3.5;

export function shapesOf({ glyph, over, under }: BlockFace): FaceShapes {
  const text = LETTER * Math.max(over.length, under.length);
  if (under) {
    const words = [{ x: 0, y: -4, text: over, anchor: "middle" }, { x: 0, y: 11, text: under, anchor: "middle" }] as const;
    return { width: text + 8, height: HIGH + 4, lines: [{ path: `M${-text / 2 - 3} 0.5h${text + 6}` }], words };
  }
  if (glyph === "gain") {
    const width = 1.5 * text + 16;
    const lines = [{ path: `M${-width / 2 + 1} -13L${width / 2 - 1} 0L${-width / 2 + 1} 13z` }];
    return { width, height: 28, lines, words: [{ x: -width / 2 + 6, y: BASELINE, text: over, anchor: "start" }] };
  }
  if (glyph.includes("-")) return beside(glyph.split("-").map((one, k) => shapesOf({ glyph: one, over: k ? over : "", under })));
  const drawing = GLYPHS[glyph];
  if (!drawing) return { width: text + 2, height: 14, lines: [], words: over ? [{ x: 0, y: BASELINE, text: over, anchor: "middle" }] : [] };
  const width = WIDE + (over ? GAP + text : 0);
  const [axes, path] = drawing;
  const lines = [...(axes ? [{ path: AXES[axes], axis: true as const }] : []), { path }]
    .map((line) => ({ ...line, path: moved(line.path, -width / 2, -HIGH / 2) }));
  return { width, height: HIGH, lines, words: over ? [{ x: WIDE + GAP - width / 2, y: BASELINE, text: over, anchor: "start" }] : [] };
}

/** Two faces, one beside the other. */
function beside(faces: readonly FaceShapes[]): FaceShapes {
  const width = faces.reduce((sum, face) => sum + face.width + GAP, -GAP);
  let left = -width / 2;
  const places = faces.map((face) => (left += face.width + GAP) - GAP - face.width / 2);
  return {
    width, height: HIGH,
    lines: faces.flatMap(({ lines }, k) => lines.map((line) => ({ ...line, path: moved(line.path, places[k]!, 0) }))),
    words: faces.flatMap(({ words }, k) => words.map((word) => ({ ...word, x: word.x + places[k]! }))),
  };
}

/** A path whose absolute commands, all of them M, L or C, are moved. */
function moved(path: string, dx: number, dy: number): string {
  return path.replace(/([MLC])([^A-Za-z]*)/g, (_, command: string, numbers: string) => {
    const shifted = (numbers.match(/-?[\d.]+/g) ?? []).map((one, k) => Number(one) + (k % 2 ? dy : dx));
    return command + shifted.map((one) => Math.round(10 * one) / 10).join(" ");
  });
}

const AXES = {
  /** Of a signal over time. */
  time: "M4 2v19h29",
  /** Of an output over an input. */
  curve: "M18 1v22M2 12h32",
};

// On 36 x 24 pixels; absolute commands are M, L and C alone.
const GLYPHS: Record<string, [axes: keyof typeof AXES | null, path: string]> = {
  step: ["time", "M4 18h10v-12h17"],
  ramp: ["time", "M4 18h7l20 -14"],
  sine: ["time", "M4 12c4 -11 8 -11 12 0s8 11 12 0"],
  square: ["time", "M4 18h4v-12h6v12h6v-12h6v12h5"],
  sawtooth: ["time", "M4 18l8 -12v12l8 -12v12l8 -12v12"],
  chirp: ["time", "M4 12c3 -10 6 -10 8 0s4 10 6 0s3 -10 4 0s2 10 3 0s2 -10 3 0s1 10 2 0"],
  noise: ["time", "M4 13l2 -6l2 9l2 -12l2 8l2 -3l2 9l2 -14l2 9l2 -4l2 8l2 -10l2 6l2 -3"],
  bits: ["time", "M4 18h3v-12h4v12h2v-12h7v12h4v-12h2v12h5"],
  stairs: ["time", "M4 18h6v-5h6v-5h6v-4h9"],
  hold: ["time", "M4 18l7 -6v-3l7 -5v4l7 1v-3l6 -2"],
  delay: ["time", "M4 18h4c2 0 2 -11 5 -11s3 11 5 11M16 18h4c2 0 2 -11 5 -11s3 11 5 11"],
  edge: ["time", "M4 18h12v-12h15M12 11l4 -5l4 5"],
  hit: ["time", "M5 19c8 -2 16 -6 25 -15M4 11h27"],
  abs: ["curve", "M6 2l12 10l12 -10"],
  sign: ["curve", "M4 19h14v-14h14"],
  saturation: ["curve", "M4 19h8l12 -14h8"],
  deadzone: ["curve", "M4 20l9 -8h10l9 -8"],
  quantizer: ["curve", "M5 21h5v-4h4v-3h4v-4h4v-3h4v-4h5"],
  relay: ["curve", "M3 19h20v-14M33 5h-20v14"],
  backlash: ["curve", "M6 20h9l15 -16h-9z"],
  limiter: ["time", "M4 18h5l15 -13h7"],
  lookup: ["curve", "M5 20l6 -2l6 -9l7 -4l7 -1M10 18h2M16 9h2M23 5h2"],
  surface: [null, "M3 19l9 -13h21l-9 13zM8 12.500h21M10 19l9 -13M17 19l9 -13"],
  spectrum: ["time", "M8 21v-6M12 21v-15M16 21v-4M20 21v-10M24 21v-3M28 21v-5"],
  lowpass: ["time", "M5 7h12c6 0 8 4 12 13"],
  notch: ["time", "M5 7h7c4 0 4 12 6 12s2 -12 6 -12h7"],
  and: [null, "M8 3h10a9 9 0 0 1 0 18h-10zM2 8h6M2 16h6M27 12h6"],
  nand: [null, "M8 3h9a9 9 0 0 1 0 18h-9zM2 8h6M2 16h6M26 12a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M30 12h4"],
  or: [null, "M7 3c10 0 16 2 21 9c-5 7 -11 9 -21 9c4 -6 4 -12 0 -18zM2 8h7M2 16h7M28 12h5"],
  nor: [null, "M7 3c9 0 14 2 19 9c-5 7 -10 9 -19 9c4 -6 4 -12 0 -18zM2 8h7M2 16h7M26 12a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M30 12h4"],
  xor: [null, "M10 3c9 0 14 2 18 9c-4 7 -9 9 -18 9c4 -6 4 -12 0 -18zM6 3c4 6 4 12 0 18M2 8h6M2 16h6M28 12h5"],
  not: [null, "M9 3l16 9l-16 9zM25 12a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M2 12h7M29 12h5"],
  enabled: [null, "M5 20h7v-15h12v15h7"],
  rising: [null, "M6 20h12v-15h12M14 11l4 -6l4 6"],
  falling: [null, "M6 5h12v15h12M14 14l4 6l4 -6"],
  either: [null, "M3 20h9v-15h12v15h9M9 10l3 -5l3 5M21 15l3 5l3 -5"],
  reset: [null, "M11 6a9 9 0 1 0 12 -1M23 11v-6.500h6.500"],
  switch: [null, "M3 5h9M3 12h6M3 19h9M24 12h9M24 12l-11 -6"],
  merge: [null, "M3 5h8l9 7M3 19h8l9 -7h13"],
  bar: [null, "M16 2h4v20h-4zM4 6h12M4 12h12M4 18h12M20 12h12"],
  scope: [null, "M5 2h26v20h-26zM9 13c3 -9 6 -9 9 0s6 9 9 0"],
  scopexy: [null, "M5 2h26v20h-26zM26 9c-4 -8 -20 0 -15 8s19 0 15 -8"],
  clock: [null, "M8 12a10 10 0 1 0 20 0a10 10 0 1 0 -20 0M18 6v6l5 3"],
  machine: [null, "M3 3h12v8h-12zM21 13h12v8h-12zM15 7h12v6M24.500 10.500l2.500 2.500l2.500 -2.500"],
  arm: [null, "M5 22h10M10 22v-7l9 -8l9 4M31 8l-3 3l3 3M8.500 15a1.500 1.500 0 1 0 3 0a1.500 1.500 0 1 0 -3 0M17.500 7a1.500 1.500 0 1 0 3 0a1.500 1.500 0 1 0 -3 0"],
  chain: [null, "M6 21l4 -14l16 -3l4 17M3 21h6M27 21h6M8.500 7a1.500 1.500 0 1 0 3 0a1.500 1.500 0 1 0 -3 0M24.500 4a1.500 1.500 0 1 0 3 0a1.500 1.500 0 1 0 -3 0"],
  weight: [null, "M18 3v17M12 14l6 6l6 -6"],
  wheel: [null, "M8 12a10 10 0 1 0 20 0a10 10 0 1 0 -20 0M15 12a3 3 0 1 0 6 0a3 3 0 1 0 -6 0M18 2v7M18 15v7M8 12h7M21 12h7"],
};
