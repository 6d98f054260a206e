// The camera: around a point, with a pointer, by touch or by keys, and along with a body.

import { type Box3, MathUtils, PerspectiveCamera, Sphere, Spherical, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import type { Motion } from "./recording";

const UP = { x: new Vector3(1, 0, 0), y: new Vector3(0, 1, 0), z: new Vector3(0, 0, 1) };
const FROM = { x: new Vector3(0.45, 1, -0.75), y: new Vector3(0.75, 0.45, 1), z: new Vector3(1, -0.75, 0.45) };

export class View {
  readonly camera: PerspectiveCamera;
  private readonly controls: OrbitControls;
  private followed: Vector3 | null = null;

  constructor(canvas: HTMLElement, motion: Motion, onChange: () => void) {
    this.camera = new PerspectiveCamera(35, 1, motion.reach / 200, motion.reach * 500);
    this.camera.up.copy(UP[motion.up]);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.zoomToCursor = true;
    this.controls.minDistance = motion.reach / 50;
    this.controls.maxDistance = motion.reach * 200;
    this.controls.addEventListener("change", onChange);
    this.camera.position.copy(FROM[motion.up]);
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
  }

  /** Look at a box from where the camera looks now, so that all of it is seen. */
  fit(box: Box3): void {
    const sphere = box.getBoundingSphere(new Sphere());
    const half = MathUtils.degToRad(this.camera.fov / 2);
    const narrow = Math.atan(Math.tan(half) * Math.min(1, this.camera.aspect));
    const distance = (1.05 * sphere.radius) / Math.sin(narrow);
    const way = this.camera.position.clone().sub(this.controls.target);
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(way.normalize(), distance);
    this.controls.update();
  }

  /** Look from where another camera does. */
  lookLike(other: View): void {
    this.camera.position.copy(other.camera.position);
    this.controls.target.copy(other.controls.target);
    this.controls.update();
  }

  /** Keep a point where it is in the picture; null lets it go. */
  follow(point: Vector3 | null): void {
    if (point !== null && this.followed !== null) {
      const moved = point.clone().sub(this.followed);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
      this.controls.update();
    }
    this.followed = point;
  }

  /** Put a point into the middle of the picture, without turning. */
  lookAt(point: Vector3): void {
    const moved = point.clone().sub(this.controls.target);
    this.camera.position.add(moved);
    this.controls.target.copy(point);
    this.controls.update();
  }

  /** Turn around the target: angles to the right and upward [rad]. */
  turn(right: number, upward: number): void {
    const level = this.camera.up.clone();
    const toY = new Vector3(0, 1, 0);
    const way = this.camera.position.clone().sub(this.controls.target);
    const turned = turnBetween(way, level, toY);
    const around = new Spherical().setFromVector3(turned);
    around.theta += right;
    around.phi = MathUtils.clamp(around.phi - upward, 0.02, Math.PI - 0.02);
    const back = turnBetween(new Vector3().setFromSpherical(around), toY, level);
    this.camera.position.copy(this.controls.target).add(back);
    this.controls.update();
  }

  /** Nearer (below 1) or farther (above 1). */
  zoom(factor: number): void {
    const way = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(way);
    this.controls.update();
  }

  /** Shift the picture by fractions of the distance to the target. */
  pan(right: number, upward: number): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const across = new Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const along = new Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    const moved = across.multiplyScalar(right * distance).addScaledVector(along, upward * distance);
    this.camera.position.add(moved);
    this.controls.target.add(moved);
    this.controls.update();
  }
}

/** A vector turned as one axis is turned into another. */
function turnBetween(vector: Vector3, from: Vector3, to: Vector3): Vector3 {
  const axis = from.clone().cross(to);
  const sine = axis.length();
  return sine < 1e-9 ? vector.clone() : vector.clone().applyAxisAngle(axis.divideScalar(sine), Math.atan2(sine, from.dot(to)));
}
