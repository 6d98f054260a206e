// The bodies as a scene graph: one node per body, its shapes and frames below it.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  CylinderGeometry,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Material,
  Mesh,
  MeshStandardMaterial,
  Object3D,
  SphereGeometry,
  SRGBColorSpace,
} from "three";

import type { Body, Motion, Pose, Shape, Surface } from "./recording";
import { poseAt } from "./tracks";

export interface BodyNode {
  body: Body;
  node: Group;
  frames: Group;
  /** Boxes that stand for the inertia of the body. */
  inertias: Object3D[];
}

/** A node per body; poses are set by `placeBodies`. */
export function bodyNodes(motion: Motion): BodyNode[] {
  const meshes = motion.meshes.map(meshGeometry);
  return motion.bodies.map((body) => {
    const node = new Group();
    node.name = body.name;
    const inertias: Object3D[] = [];
    for (const shape of body.shapes) {
      const object = shapeObject(shape, meshes);
      node.add(object);
      if (shape.stands_for === "inertia") {
        inertias.push(object);
      }
    }
    const frames = framesOf(body, 0.09 * motion.reach);
    node.add(frames);
    return { body, node, frames, inertias };
  });
}

/** Put every body where its track is at a time. */
export function placeBodies(nodes: readonly BodyNode[], time: number): void {
  for (const { body, node } of nodes) {
    place(node, poseAt(body.track, time));
    node.updateMatrixWorld();
  }
}

function place(object: Object3D, [x, y, z, qx, qy, qz, qw]: Pose): void {
  object.position.set(x, y, z);
  object.quaternion.set(qx, qy, qz, qw);
}

function meshGeometry({ positions, indices }: Surface): BufferGeometry {
  const shared = new BufferGeometry();
  shared.setAttribute("position", new BufferAttribute(positions, 3));
  shared.setIndex(new BufferAttribute(indices, 1));
  const flat = shared.toNonIndexed(); // sharp edges stay sharp
  flat.computeVertexNormals();
  return flat;
}

function solidGeometry(shape: Shape, meshes: readonly BufferGeometry[]): BufferGeometry | undefined {
  switch (shape.kind) {
    case "box":
      return new BoxGeometry(...shape.size);
    case "cylinder":
      return new CylinderGeometry(shape.radius, shape.radius, shape.length, 40).rotateX(Math.PI / 2);
    case "sphere":
      return new SphereGeometry(shape.radius, 40, 20);
    case "mesh":
      return meshes[shape.mesh];
  }
}

function shapeObject(shape: Shape, meshes: readonly BufferGeometry[]): Object3D {
  const geometry = solidGeometry(shape, meshes);
  const object = new Group();
  place(object, shape.pose);
  if (geometry === undefined) {
    return object;
  }
  const mesh = new Mesh(geometry, materialOf(shape));
  mesh.castShadow = mesh.receiveShadow = shape.stands_for === undefined;
  if (shape.kind === "mesh" && shape.scale) {
    mesh.scale.set(...shape.scale);
  }
  object.add(mesh);
  if (shape.stands_for === "inertia") {
    object.add(new LineSegments(new EdgesGeometry(geometry), edgesOf(shape)));
  }
  return object;
}

function materialOf({ colour: [r, g, b, alpha], stands_for, kind }: Shape): Material {
  const opacity = stands_for === "inertia" ? Math.min(alpha, 0.22) : alpha;
  return new MeshStandardMaterial({
    color: new Color().setRGB(r, g, b, SRGBColorSpace),
    roughness: 0.55,
    metalness: 0.1,
    opacity,
    transparent: opacity < 1,
    depthWrite: opacity >= 1,
    side: kind === "mesh" ? 2 : 0, // files of meshes do not agree on which side is outside
  });
}

function edgesOf({ colour: [r, g, b] }: Shape): LineBasicMaterial {
  return new LineBasicMaterial({ color: new Color().setRGB(r, g, b, SRGBColorSpace) });
}

const AXES = [0xd94a4a, 0x3fa34d, 0x3f74d9];

/** The body's axes at its origin and at each of its frames: x red, y green, z blue. */
function framesOf(body: Body, length: number): Group {
  const group = new Group();
  group.add(axesObject(length));
  for (const { pose } of body.frames) {
    const axes = axesObject(0.7 * length);
    place(axes, pose);
    group.add(axes);
  }
  group.visible = false;
  return group;
}

function axesObject(length: number): Group {
  const axes = new Group();
  AXES.forEach((color, axis) => {
    const rod = new CylinderGeometry(0.02 * length, 0.02 * length, length, 8).translate(0, length / 2, 0);
    const mesh = new Mesh(rod, new MeshStandardMaterial({ color, roughness: 0.6 }));
    mesh.rotation.set(axis === 2 ? Math.PI / 2 : 0, 0, axis === 0 ? -Math.PI / 2 : 0);
    axes.add(mesh);
  });
  return axes;
}
