// How lines are told apart: by colour and by a sign along the line, which the legend shows too.
// Lines of earlier runs have the same, and are dashed.

export const COLOURS = ["#3b82c4", "#e0803a", "#3f9d57", "#d1495b", "#8a63d2", "#2aa1b3", "#b5832e", "#c05fa6"];
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 5]];

/** Corners of signs about (0, 0), of about unit radius; one without corners is a circle. */
export const SIGNS: readonly (readonly (readonly [x: number, y: number])[])[] = [
  [],
  [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  [[0, -1.1], [1.05, 0.8], [-1.05, 0.8]],
  [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]],
  [[0, 1.1], [-1.05, -0.8], [1.05, -0.8]],
  [[-0.35, -1.1], [0.35, -1.1], [0.35, -0.35], [1.1, -0.35], [1.1, 0.35], [0.35, 0.35], [0.35, 1.1], [-0.35, 1.1], [-0.35, 0.35], [-1.1, 0.35], [-1.1, -0.35], [-0.35, -0.35]],
  [[0, -1.2], [0.35, -0.4], [1.15, -0.4], [0.5, 0.15], [0.75, 1], [0, 0.5], [-0.75, 1], [-0.5, 0.15], [-1.15, -0.4], [-0.35, -0.4]],
];

export interface LineStyle {
  colour: string;
  sign: number;
  dash: number[];
  width: number;
}

/** Of a plot's line number `line`; run: 0 for the run that is shown, then those laid over it. */
export function styleOf(line: number, run: number): LineStyle {
  return {
    colour: COLOURS[line % COLOURS.length]!,
    sign: line % SIGNS.length,
    dash: DASHES[run === 0 ? 0 : 1 + ((run - 1) % (DASHES.length - 1))]!,
    width: run === 0 ? 1.5 : 1,
  };
}

/** The sign as an SVG path about a middle. */
export function signPath(sign: number, x: number, y: number, radius: number): string {
  const corners = SIGNS[sign]!;
  if (corners.length === 0) {
    return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;
  }
  const points = corners.map(([dx, dy]) => `${(x + radius * dx).toFixed(2)} ${(y + radius * dy).toFixed(2)}`);
  return `M${points.join("L")}z`;
}
