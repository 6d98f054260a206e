// The tracks of a motion, as poses are told while a run goes on.

import type { Body, Motion } from "../../../viewer/src/recording";
import { Growing } from "../run/growing";

const STILL = 1e-9;

interface Rows {
  t: Growing;
  p: Growing;
  q: Growing;
}

/** Appends poses to the tracks of bodies. A body that does not move keeps one row. */
export class LiveTracks {
  private readonly rows: Rows[];
  private last = -Infinity;
  /** How many bodies have moved so far. */
  moving = 0;

  constructor(private readonly motion: Motion) {
    this.rows = motion.bodies.map(() => ({ t: new Growing(), p: new Growing(), q: new Growing() }));
  }

  /** Rows of the time, then for each body its position and quaternion. Whether they were taken. */
  append(rows: number, numbers: Float64Array): boolean {
    const { bodies } = this.motion;
    const width = 1 + 7 * bodies.length;
    if (numbers.length < rows * width) return false;
    for (let row = 0; row < rows; row++) {
      const time = numbers[row * width]!;
      if (time < this.last) continue;
      bodies.forEach((_, index) => this.add(index, time, numbers, row * width + 1 + 7 * index));
      this.last = time;
    }
    bodies.forEach((body, index) => this.give(body, this.rows[index]!));
    this.moving = bodies.filter(({ track }) => track.t.length > 1).length;
    this.motion.end = Math.max(this.motion.end, this.last);
    return true;
  }

  private add(index: number, time: number, numbers: Float64Array, at: number): void {
    const rows = this.rows[index]!;
    const count = rows.t.length;
    if (count === 1) {
      if (isSame(rows, numbers, at)) return;
      if (this.last > rows.t.at(0)) repeat(rows, this.last); // it stood still until then
    }
    rows.t.push(time);
    for (let k = 0; k < 3; k++) rows.p.push(numbers[at + k]!);
    for (let k = 3; k < 7; k++) rows.q.push(numbers[at + k]!);
  }

  private give({ track }: Body, { t, p, q }: Rows): void {
    track.t = t.view();
    track.p = p.view();
    track.q = q.view();
  }
}

function isSame({ p, q }: Rows, numbers: Float64Array, at: number): boolean {
  let most = 0;
  for (let k = 0; k < 3; k++) most = Math.max(most, Math.abs(p.at(k) - numbers[at + k]!));
  for (let k = 0; k < 4; k++) most = Math.max(most, Math.abs(q.at(k) - numbers[at + 3 + k]!));
  return most < STILL;
}

function repeat({ t, p, q }: Rows, time: number): void {
  t.push(time);
  for (let k = 0; k < 3; k++) p.push(p.at(k));
  for (let k = 0; k < 4; k++) q.push(q.at(k));
}

/** Give the bodies of a motion the tracks of another with the same bodies. Whether they are the
 * same; if not, nothing is changed. */
export function adopt(motion: Motion, other: Motion): boolean {
  const names = ({ bodies }: Motion): string => bodies.map(({ name }) => name).join("\n");
  if (names(motion) !== names(other)) return false;
  motion.bodies.forEach((body, index) => (body.track = other.bodies[index]!.track));
  motion.arrows = other.arrows;
  motion.start = other.start;
  motion.end = other.end;
  return true;
}
