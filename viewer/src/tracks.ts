// Values between rows: positions and signals linear, attitudes on the shortest arc. At a jump (two
// rows of one time) the value at that time is the second row's.

import type { Pose, Series, Track } from "./recording";

/** The last row whose time is at most this one; -1 before the first. */
export function rowAt(t: Float64Array, time: number): number {
  let low = 0;
  let high = t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t[middle]! <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

/** The row before a time, and the fraction of the way to the next one. Held at both ends. */
export function placeAt(t: Float64Array, time: number): [row: number, fraction: number] {
  const row = rowAt(t, time);
  if (row < 0) {
    return [0, 0];
  }
  if (row >= t.length - 1) {
    return [t.length - 1, 0];
  }
  return [row, (time - t[row]!) / (t[row + 1]! - t[row]!)];
}

/** The values of a series at a time, NaN where it has no rows. */
export function valuesAt(series: Series, time: number): number[] {
  const { t, columns, values } = series;
  if (t.length === 0) {
    return new Array<number>(columns).fill(NaN);
  }
  const [row, fraction] = placeAt(t, time);
  return Array.from({ length: columns }, (_, column) => {
    const at = row * columns + column;
    const value = values[at]!;
    return fraction === 0 ? value : value + fraction * (values[at + columns]! - value);
  });
}

/** The pose of a track at a time. */
export function poseAt(track: Track, time: number): Pose {
  const { t, p, q } = track;
  if (t.length === 0) {
    return [0, 0, 0, 0, 0, 0, 1];
  }
  const [row, fraction] = placeAt(t, time);
  const pose: Pose = [0, 0, 0, 0, 0, 0, 1];
  for (let k = 0; k < 3; k++) {
    const from = p[3 * row + k]!;
    pose[k] = fraction === 0 ? from : from + fraction * (p[3 * row + 3 + k]! - from);
  }
  slerp(q, row, fraction, pose);
  return pose;
}

/** Spherical linear interpolation from a row of quaternions to the next, into a pose. */
function slerp(q: Float64Array, row: number, fraction: number, pose: Pose): void {
  const at = 4 * row;
  let [from, to] = [1, 0];
  if (fraction !== 0) {
    let cosine = 0;
    for (let k = 0; k < 4; k++) {
      cosine += q[at + k]! * q[at + 4 + k]!;
    }
    const sign = cosine < 0 ? -1 : 1; // q and -q are one attitude
    const angle = Math.acos(Math.min(1, Math.abs(cosine)));
    const sine = Math.sin(angle);
    const near = sine < 1e-7;
    from = near ? 1 - fraction : Math.sin((1 - fraction) * angle) / sine;
    to = sign * (near ? fraction : Math.sin(fraction * angle) / sine);
  }
  for (let k = 0; k < 4; k++) {
    pose[3 + k] = from * q[at + k]! + (fraction === 0 ? 0 : to * q[at + 4 + k]!);
  }
}
