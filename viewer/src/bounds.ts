// The space that a motion takes, for the camera and the floor.

import { Box3, type Object3D, Vector3 } from "three";

import type { Motion } from "./recording";
import { type BodyNode, placeBodies } from "./scene";

const MOMENTS = 40;

export interface Bounds {
  /** Around the bodies at all times. */
  whole: Box3;
  /** Around them at the start. */
  first: Box3;
  /** Whether every body without a parent stands still. */
  fixed: boolean;
}

/** What the shapes fill, at moments over the whole motion. */
export function boundsOf(motion: Motion, nodes: readonly BodyNode[]): Bounds {
  const whole = new Box3();
  let first = whole;
  for (let k = 0; k <= MOMENTS; k++) {
    placeBodies(nodes, motion.start + (k / MOMENTS) * (motion.end - motion.start));
    const box = boxOf(nodes, motion.reach);
    first = k === 0 ? box : first;
    whole.union(box);
  }
  const roots = motion.bodies.filter((body) => body.parent < 0);
  return { whole, first, fixed: roots.every(({ track }) => track.t.length <= 1) };
}

function boxOf(nodes: readonly BodyNode[], reach: number): Box3 {
  const box = new Box3();
  for (const { node } of nodes) {
    for (const shape of node.children) {
      if (shape.visible) {
        box.union(new Box3().setFromObject(shape));
      }
    }
    box.expandByPoint(node.getWorldPosition(new Vector3()));
  }
  if (box.isEmpty()) {
    box.expandByPoint(new Vector3());
  }
  const size = box.getSize(new Vector3()).length();
  return size > 1e-3 * reach ? box : box.expandByScalar(reach / 2);
}

/** The middle of an object's shapes, in world axes. */
export function middleOf(object: Object3D, com: readonly [number, number, number]): Vector3 {
  return object.localToWorld(new Vector3(...com));
}
