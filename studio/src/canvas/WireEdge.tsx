// A wire along the route that the server gives, and along a simple one while its ends move.

import { type EdgeProps } from "@xyflow/react";
import { memo } from "react";

import type { Point } from "../protocol";
import { wayIn, wayOut } from "./facing";
import { arrowAt, labelPlace, lineThrough, simpleRoute, toHead } from "./geometry";
import { useStudio } from "../store";
import type { WireEdge as Shown } from "./nodes";

export const WireEdge = memo(function WireEdge(props: EdgeProps<Shown>) {
  const { data, sourceX, sourceY, targetX, targetY, selected } = props;
  const onto = useStudio((state) => state.onto === props.id);
  const names = useStudio((state) => state.names);
  if (!data) return null;
  const { wire, shape, dots, name } = data;
  const start: Point = [sourceX, sourceY];
  const end: Point = [targetX, targetY];
  const served = isNear(wire.points[0], start) && isNear(wire.points.at(-1), end);
  const [out, into] = [wayOut(props.sourcePosition), wayIn(props.targetPosition)];
  const route = served ? wire.points : simpleRoute(start, end, out, into);
  const line = lineThrough(toHead(route, into));
  const wrong = wire.problems.length > 0;
  return (
    <g className={`wire${selected ? " chosen" : ""}${onto ? " onto" : ""}${wire.bus.length ? " bus" : ""}${wrong ? " wrong" : ""}`}>
      <path className="react-flow__edge-interaction" d={line} fill="none" strokeOpacity={0} strokeWidth={14} />
      <path className="line" d={line} />
      <path className="head" d={arrowAt(route.at(-1) as Point, into)} />
      <Words text={[names ? name : "", shape].filter(Boolean).join("  ")} route={route} />
      {served && dots.map(([x, y]) => <circle key={`${x},${y}`} cx={x} cy={y} r={2.5} />)}
    </g>
  );
});

/** The name and the shape of what the wire carries, where there is room. */
function Words({ text, route }: { text: string; route: readonly Point[] }) {
  if (!text) return null;
  const { at: [x, y], room } = labelPlace(route);
  return room < (text.length > 9 ? 6 : 12) * text.length + 12 ? null : <text x={x} y={y - 3}>{text}</text>;
}

// React Flow takes the end of a wire at the outer edge of a port's box.
function isNear(point: Point | undefined, [x, y]: Point): boolean {
  if (!point) return false;
  const [dx, dy] = [Math.abs(point[0] - x), Math.abs(point[1] - y)];
  return Math.min(dx, dy) < 2 && Math.max(dx, dy) < 8;
}
