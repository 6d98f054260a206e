// A run as a motion, which scopes, diagram, values and stage show.

import { type Motion, type Packed, readMotion, type Series, type Signal, type Track } from "../recording";
import type { Model } from "./data";
import { type Run, widthOf } from "./program";

const NONE: Packed = { type: "f64", shape: [0], data: "" };

/** A motion without rows yet: its signals and bodies keep their objects over all runs. */
export function emptyMotion(model: Model): Motion {
  const { name, start, reach, meshes, diagram } = model;
  const bodies = model.bodies.map((body) => ({ ...body, track: { t: NONE, p: NONE, q: NONE } }));
  const scopes = model.scopes.map(({ title }) => title);
  const motion = readMotion({ format: 1, name, start, end: model.numbers[0]!, reach, bodies, meshes, scopes, diagram });
  motion.signals = model.signals.flatMap(({ name, unit, labels, count, scopes }): Signal[] => {
    const series: Series = { t: new Float64Array(0), columns: count, values: new Float64Array(0) };
    const places = scopes.length ? scopes : [null];
    return places.map((scope) => ({ name, unit, labels, scope, series }));
  });
  return motion;
}

/** The signals of a motion, each once; a motion has one for each scope that it is in. */
export function eachOnce(signals: readonly Signal[]): Signal[] {
  return [...new Map(signals.map((signal) => [signal.name, signal])).values()];
}

/** Put the rows of a run into a motion. */
export function fill(motion: Motion, model: Model, run: Run): void {
  const width = widthOf(model);
  eachOnce(motion.signals).forEach((signal, index) => fillSignal(signal, model.signals[index]!.at, run, width));
  const signals = width - 12 * model.bodies.length;
  motion.bodies.forEach(({ track }, index) => fillTrack(track, run, width, signals + 12 * index));
}

function fillSignal(signal: Signal, at: number, { shown, t }: Run, width: number): void {
  const count = t.length;
  const { columns } = signal.series;
  const values = new Float64Array(count * columns);
  for (let row = 0; row < count; row++) {
    for (let k = 0; k < columns; k++) {
      values[row * columns + k] = shown[row * width + at + k]!;
    }
  }
  signal.series.t = t;
  signal.series.values = values;
}

/** The poses of a body from its frames (3, 4). One that stands still keeps one row. */
function fillTrack(track: Track, { shown, t }: Run, width: number, at: number): void {
  const count = t.length;
  const moves = Array.from({ length: 12 }, (_, k) => k).some((k) => {
    const first = shown[at + k]!;
    for (let row = 1; row < count; row++) {
      if (Math.abs(shown[row * width + at + k]! - first) > 1e-9) return true;
    }
    return false;
  });
  const rows = moves ? count : Math.min(count, 1);
  track.t = t.slice(0, rows);
  track.p = new Float64Array(3 * rows);
  track.q = new Float64Array(4 * rows);
  for (let row = 0; row < rows; row++) {
    const frame = shown.subarray(row * width + at, row * width + at + 12);
    track.p.set([frame[3]!, frame[7]!, frame[11]!], 3 * row);
    track.q.set(quaternionOf(frame), 4 * row);
  }
}

/** The unit quaternion, scalar last, of the rotation in a frame (3, 4), by rows. */
export function quaternionOf(f: ArrayLike<number>): [number, number, number, number] {
  const [xx, xy, xz, yx, yy, yz, zx, zy, zz] = [0, 1, 2, 4, 5, 6, 8, 9, 10].map((k) => f[k]!) as number[] as [number, number, number, number, number, number, number, number, number];
  // Of four forms the one whose square root is the largest (Shepperd's method).
  const w = xx + yy + zz;
  const largest = Math.max(w, xx, yy, zz);
  let q: [number, number, number, number];
  if (largest === w) {
    q = [zy - yz, xz - zx, yx - xy, 1 + w];
  } else if (largest === xx) {
    q = [1 + xx - yy - zz, xy + yx, xz + zx, zy - yz];
  } else if (largest === yy) {
    q = [xy + yx, 1 - xx + yy - zz, yz + zy, xz - zx];
  } else {
    q = [xz + zx, yz + zy, 1 - xx - yy + zz, yx - xy];
  }
  const length = Math.hypot(...q) || 1;
  return q.map((part) => part / length) as [number, number, number, number];
}
