// A wire along the route that the server gives, and along a simple one while its ends move.

import { type EdgeProps } from "@xyflow/react";
import { memo } from "react";

import type { Point } from "../protocol";
import { ARROW, arrowAt, labelPlace, lineThrough, simpleRoute } from "./geometry";
import type { WireEdge as Shown } from "./nodes";

export const WireEdge = memo(function WireEdge({ data, sourceX, sourceY, targetX, targetY, selected }: EdgeProps<Shown>) {
  if (!data) return null;
  const { wire, shape, dots } = data;
  const start: Point = [sourceX, sourceY];
  const end: Point = [targetX, targetY];
  const served = isNear(wire.points[0], start) && isNear(wire.points.at(-1), end);
  const route = served ? wire.points : simpleRoute(start, end);
  const tip = route.at(-1) as Point;
  const line = lineThrough([...route.slice(0, -1), [tip[0] - ARROW + 1, tip[1]]]);
  const wrong = wire.problems.length > 0;
  return (
    <g className={`wire${selected ? " chosen" : ""}${wrong ? " wrong" : ""}`}>
      <path className="react-flow__edge-interaction" d={line} fill="none" strokeOpacity={0} strokeWidth={14} />
      <path className="line" d={line} />
      <path className="head" d={arrowAt(tip)} />
      <Width shape={shape} route={route} />
      {served && dots.map(([x, y]) => <circle key={`${x},${y}`} cx={x} cy={y} r={2.5} />)}
    </g>
  );
});

/** The shape of what the wire carries, where it is wider than a number and there is room. */
function Width({ shape, route }: { shape: string; route: readonly Point[] }) {
  if (!shape) return null;
  const { at: [x, y], room } = labelPlace(route);
  return room < 12 * shape.length + 12 ? null : <text x={x} y={y - 3}>{shape}</text>;
}

// React Flow takes the end of a wire at the outer edge of a port's box.
function isNear(point: Point | undefined, [x, y]: Point): boolean {
  return point !== undefined && Math.abs(point[0] - x) < 8 && Math.abs(point[1] - y) < 2;
}
