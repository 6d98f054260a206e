// What a block shows of its function.

import type { BlockFace } from "../protocol";
import { shapesOf } from "./faces";

const FRAME = "M-13 -10h26v20h-26z";

/** lines: those of a scope, in place of its sign. */
export function Face({ face, lines: shown = [] }: { face: BlockFace; lines?: readonly string[] }) {
  const { width, height, lines: drawn, words } = shapesOf(face);
  const lines = shown.length ? [{ path: FRAME, axis: undefined }, ...shown.map((path) => ({ path, axis: undefined }))] : drawn;
  return (
    <svg className="face" width={width} height={height} viewBox={`${-width / 2} ${-height / 2} ${width} ${height}`} aria-hidden="true">
      {lines.map(({ path, axis }) => <path key={path} className={axis && "axis"} d={path} />)}
      {words.map(({ x, y, text, anchor }) => <text key={y} x={x} y={y} textAnchor={anchor}>{text}</text>)}
    </svg>
  );
}
