// Forces and torques as arrows at the bodies' centres of mass, in world axes.

import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshStandardMaterial, Vector3 } from "three";

import type { Arrow, Motion, Series } from "./recording";
import type { BodyNode } from "./scene";
import { valuesAt } from "./tracks";

const COLOUR = { force: 0xe8590c, torque: 0x7048e8 };
const LONGEST = 0.35; // of reach, for the largest of a motion
const Y = new Vector3(0, 1, 0);

interface Drawn {
  arrow: Arrow;
  object: Group;
  shaft: Mesh;
}

/** All arrows of a motion; the largest force and the largest torque have the same length. */
export class Arrows {
  readonly object = new Group();
  scale = 1;
  private readonly drawn: Drawn[];
  private readonly largest: Record<Arrow["kind"], number>;

  constructor(private readonly motion: Motion, private readonly nodes: readonly BodyNode[]) {
    this.largest = { force: 0, torque: 0 };
    for (const { kind, series } of motion.arrows) {
      this.largest[kind] = Math.max(this.largest[kind], largestOf(series));
    }
    this.drawn = motion.arrows.filter(({ body }) => nodes[body]).map((arrow) => draw(arrow, motion.reach));
    this.drawn.forEach(({ object }) => this.object.add(object));
  }

  show(time: number): void {
    for (const { arrow, object, shaft } of this.drawn) {
      const { body, node } = this.nodes[arrow.body]!;
      const [x = 0, y = 0, z = 0] = valuesAt(arrow.series, time);
      const vector = new Vector3(x, y, z);
      const share = vector.length() / (this.largest[arrow.kind] || 1);
      object.visible = share > 1e-3;
      if (object.visible) {
        const length = LONGEST * this.motion.reach * this.scale * share;
        object.position.copy(node.localToWorld(new Vector3(...body.com)));
        object.quaternion.setFromUnitVectors(Y, vector.normalize());
        stretch(object, shaft, length, this.motion.reach);
      }
    }
  }
}

function largestOf({ values }: Series): number {
  let largest = 0;
  for (let at = 0; at + 2 < values.length; at += 3) {
    const length = Math.hypot(values[at]!, values[at + 1]!, values[at + 2]!);
    largest = length > largest ? length : largest;
  }
  return largest;
}

/** An arrow along y with a shaft of length 1 and a head whose tip is at the origin; two heads for
 * a torque. */
function draw(arrow: Arrow, reach: number): Drawn {
  const color = COLOUR[arrow.kind];
  const material = new MeshStandardMaterial({ color, emissive: color, emissiveIntensity: 0.35, roughness: 0.5 });
  const shaft = new Mesh(new CylinderGeometry(0.007 * reach, 0.007 * reach, 1, 16).translate(0, 0.5, 0), material);
  const object = new Group();
  object.add(shaft);
  for (let head = 0; head < (arrow.kind === "torque" ? 2 : 1); head++) {
    object.add(new Mesh(new ConeGeometry(0.02 * reach, 0.06 * reach, 24).translate(0, -0.03 * reach, 0), material));
  }
  return { arrow, object, shaft };
}

function stretch(object: Group, shaft: Mesh, length: number, reach: number): void {
  const size = Math.min(1, length / (0.1 * reach)); // short arrows have small heads
  shaft.scale.set(size, Math.max(length - 0.05 * reach * size, 1e-9), size);
  object.children.slice(1).forEach((head, number) => {
    head.position.y = length - 0.045 * reach * size * number;
    head.scale.setScalar(size);
  });
}
