// The curve of a table, whose points are dragged.

import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";

import { curve, rounded } from "./values";

type Points = readonly (readonly [number, number])[];

const SIZE = { width: 320, height: 240, margin: 34 };

interface Props {
  points: Points;
  interpolation: string;
  names: readonly [string, string];
  onMove: (index: number, x: number, y: number) => void;
}

export function Curve({ points, interpolation, names, onMove }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [held, setHeld] = useState<{ index: number; scale: Scale } | null>(null);
  const scale = held?.scale ?? scaleOf(points);
  if (points.length === 0) return null;
  const move = (index: number, x: number, y: number): void => {
    const least = points[index - 1]?.[0] ?? -Infinity;
    const most = points[index + 1]?.[0] ?? Infinity;
    const gap = scale.x.range / 1000;
    const clamped = Math.min(Math.max(x, least + gap), most - gap);
    onMove(index, rounded(clamped, scale.x.range), rounded(y, scale.y.range));
  };
  const drag = (event: PointerEvent): void => {
    const box = svg.current?.getBoundingClientRect();
    if (!held || !box) return;
    const ratio = SIZE.width / box.width;
    move(held.index, scale.x.back((event.clientX - box.left) * ratio), scale.y.back((event.clientY - box.top) * ratio));
  };
  const press = (event: KeyboardEvent, index: number): void => {
    const [x, y] = points[index]!;
    const step = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const size = event.shiftKey ? 0.1 : 0.01;
    move(index, x + step[0]! * size * scale.x.range, y + step[1]! * size * scale.y.range);
  };
  const corner = ([x, y]: readonly [number, number]): string => `${scale.x.at(x)},${scale.y.at(y)}`;
  return (
    <svg ref={svg} className="curve" viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} role="group" aria-label={`Curve of ${names[1]} over ${names[0]}`}
      onPointerMove={drag} onPointerUp={() => setHeld(null)}>
      <line x1={SIZE.margin} x2={SIZE.width - 10} y1={SIZE.height - SIZE.margin} y2={SIZE.height - SIZE.margin} />
      <line x1={SIZE.margin} x2={SIZE.margin} y1={10} y2={SIZE.height - SIZE.margin} />
      <text x={SIZE.margin} y={SIZE.height - 16}>{rounded(scale.x.least, scale.x.range)}</text>
      <text x={SIZE.width - 10} y={SIZE.height - 16} textAnchor="end">{rounded(scale.x.least + scale.x.range, scale.x.range)}</text>
      <text x={SIZE.margin - 4} y={SIZE.height - SIZE.margin} textAnchor="end">{rounded(scale.y.least, scale.y.range)}</text>
      <text x={SIZE.margin - 4} y={18} textAnchor="end">{rounded(scale.y.least + scale.y.range, scale.y.range)}</text>
      <text x={SIZE.width / 2} y={SIZE.height - 6} textAnchor="middle">{names[0]}</text>
      <polyline points={curve(points, interpolation).map(corner).join(" ")} />
      {points.map(([x, y], k) => (
        <circle key={k} cx={scale.x.at(x)} cy={scale.y.at(y)} r={6} tabIndex={0} role="slider" aria-label={`Point ${k}`}
          aria-valuenow={y} aria-valuetext={`${names[0]} ${x}, ${names[1]} ${y}`} onKeyDown={(event) => press(event, k)}
          onPointerDown={(event) => {
            svg.current?.setPointerCapture(event.pointerId);
            setHeld({ index: k, scale });
          }} />
      ))}
    </svg>
  );
}

interface Axis {
  least: number;
  range: number;
  at: (value: number) => number;
  back: (pixel: number) => number;
}

interface Scale {
  x: Axis;
  y: Axis;
}

function scaleOf(points: Points): Scale {
  return {
    x: axisOf(points.map(([x]) => x), SIZE.margin, SIZE.width - 10),
    y: axisOf(points.map(([, y]) => y), SIZE.height - SIZE.margin, 10),
  };
}

function axisOf(values: readonly number[], from: number, to: number): Axis {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const range = high > low ? high - low : Math.abs(high) || 1;
  const least = high > low ? low : low - range / 2;
  return {
    least, range,
    at: (value) => from + ((value - least) / range) * (to - from),
    back: (pixel) => least + ((pixel - from) / (to - from)) * range,
  };
}
