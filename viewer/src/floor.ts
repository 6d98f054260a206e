// A grid below the robot, faded toward its rim, which also takes the shadows.

import {
  BufferAttribute,
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  PlaneGeometry,
  ShadowMaterial,
  Vector3,
} from "three";

import { niceStep } from "./numbers";
import type { Motion } from "./recording";

const CELLS = 24;
const GREY = 0.5;

/** A floor whose cells are a round number of metres wide. Its middle and height are to be set. */
export function floorOf(motion: Motion, extent: number): Group {
  const step = niceStep(Math.max(extent, 1e-9), 6);
  const floor = new Group();
  floor.add(grid(step), shade(step));
  floor.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), upOf(motion));
  floor.userData["step"] = step;
  return floor;
}

/** Lines are fainter on a dark ground, where they stand out more. */
export function setFloorTheme(floor: Group, dark: boolean): void {
  const [lines] = floor.children as [LineSegments];
  (lines.material as LineBasicMaterial).opacity = dark ? 0.45 : 1;
}

export function upOf({ up }: Motion): Vector3 {
  return new Vector3(up === "x" ? 1 : 0, up === "y" ? 1 : 0, up === "z" ? 1 : 0);
}

function grid(step: number): LineSegments {
  const points: number[] = [];
  const colours: number[] = [];
  const half = CELLS / 2;
  const add = (x: number, y: number, major: boolean): void => {
    points.push(x * step, y * step, 0);
    const fade = Math.max(0, 1 - Math.hypot(x, y) / half);
    colours.push(GREY, GREY, GREY, (major ? 0.75 : 0.4) * fade);
  };
  for (let line = -half; line <= half; line++) {
    const major = line % 5 === 0;
    for (let cell = -half; cell < half; cell++) {
      add(line, cell, major);
      add(line, cell + 1, major);
      add(cell, line, major);
      add(cell + 1, line, major);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
  geometry.setAttribute("color", new BufferAttribute(Float32Array.from(colours), 4));
  const material = new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false });
  return new LineSegments(geometry, material);
}

function shade(step: number): Mesh {
  const plane = new PlaneGeometry(CELLS * step, CELLS * step);
  const mesh = new Mesh(plane, new ShadowMaterial({ opacity: 0.22, depthWrite: false }));
  mesh.receiveShadow = true;
  return mesh;
}
