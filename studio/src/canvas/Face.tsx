// What a block shows of its function.

import type { BlockFace } from "../protocol";
import { shapesOf } from "./faces";

export function Face({ face }: { face: BlockFace }) {
  const { width, height, lines, words } = shapesOf(face);
  return (
    <svg className="face" width={width} height={height} viewBox={`${-width / 2} ${-height / 2} ${width} ${height}`} aria-hidden="true">
      {lines.map(({ path, axis }) => <path key={path} className={axis && "axis"} d={path} />)}
      {words.map(({ x, y, text, anchor }) => <text key={y} x={x} y={y} textAnchor={anchor}>{text}</text>)}
    </svg>
  );
}
