// The ways of chosen points of bodies, drawn up to the time of the page.

import { Group, type InterleavedBufferAttribute, Quaternion, Vector3 } from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";

import type { Body, Motion, Pose, Track } from "./recording";
import { poseAt, rowAt } from "./tracks";

const WIDEST_TURN = 0.1; // rad between two points of a trail
const WIDTH = 2.5; // pixels
const MOST_POINTS = 100_000;
const COLOURS = [0xe0803a, 0x3b82c4, 0x3f9d57, 0xd1495b, 0x8a63d2, 0x2aa1b3];

/** A point that can leave a trail: a frame of a body, or its centre of mass. */
export interface Tracer {
  name: string;
  body: Body;
  point: Vector3;
  /** Whether it is a frame, such as an end-effector. */
  isFrame: boolean;
}

/** The points of all bodies that move. */
export function tracersOf(motion: Motion): Tracer[] {
  const moving = motion.bodies.filter(({ track }) => track.t.length > 1);
  return moving.flatMap((body) => [
    ...body.frames.map(({ name, pose: [x, y, z] }) => {
      return { name, body, point: new Vector3(x, y, z), isFrame: true };
    }),
    { name: body.name, body, point: new Vector3(...body.com), isFrame: false },
  ]);
}

/** The times at which a trail has points: the rows, and more where the body turns fast. */
export function trailTimes(track: Track): Float64Array {
  const { t, q } = track;
  const times: number[] = [];
  for (let row = 0; row < t.length && times.length < MOST_POINTS; row++) {
    times.push(t[row]!);
    if (row + 1 < t.length && t[row + 1]! > t[row]!) {
      let cosine = 0;
      for (let k = 0; k < 4; k++) {
        cosine += q[4 * row + k]! * q[4 * row + 4 + k]!;
      }
      const angle = 2 * Math.acos(Math.min(1, Math.abs(cosine)));
      const parts = Math.min(Math.ceil(angle / WIDEST_TURN), 64);
      for (let part = 1; part < parts; part++) {
        times.push(t[row]! + ((t[row + 1]! - t[row]!) * part) / parts);
      }
    }
  }
  return Float64Array.from(times);
}

function pointAt({ body, point }: Tracer, time: number): Vector3 {
  const [x, y, z, ...q]: Pose = poseAt(body.track, time);
  return point.clone().applyQuaternion(new Quaternion(...q)).add(new Vector3(x, y, z));
}

/** One trail: a line through the past, and a last piece to where the point is now. */
export class Trail {
  readonly object = new Group();
  private readonly times: Float64Array;
  private readonly origin: Vector3;
  private readonly past: Line2;
  private readonly last: Line2;

  constructor(private readonly tracer: Tracer, number: number) {
    this.times = trailTimes(tracer.body.track);
    this.origin = pointAt(tracer, this.times[0] ?? 0);
    const color = COLOURS[number % COLOURS.length]!;
    const material = new LineMaterial({ color, linewidth: WIDTH });
    const points = Array.from(this.times, (time) => this.local(time)).flatMap(({ x, y, z }) => [x, y, z]);
    this.past = new Line2(new LineGeometry().setPositions(points), material);
    this.last = new Line2(new LineGeometry().setPositions([0, 0, 0, 0, 0, 0]), material);
    this.past.frustumCulled = this.last.frustumCulled = false;
    this.object.position.copy(this.origin); // far from the world's origin, too, points are exact
    this.object.add(this.past, this.last);
  }

  show(time: number): void {
    const row = rowAt(this.times, time);
    this.past.geometry.instanceCount = Math.max(row, 0);
    this.past.visible = row > 0;
    this.last.visible = row >= 0;
    if (row >= 0) {
      const start = this.last.geometry.getAttribute("instanceStart") as InterleavedBufferAttribute;
      const [from, to] = [this.local(this.times[row]!), this.local(time)];
      start.data.array.set([from.x, from.y, from.z, to.x, to.y, to.z]);
      start.data.needsUpdate = true;
    }
  }

  dispose(): void {
    this.past.geometry.dispose();
    this.last.geometry.dispose();
    this.object.removeFromParent();
  }

  private local(time: number): Vector3 {
    return pointAt(this.tracer, time).sub(this.origin);
  }
}
