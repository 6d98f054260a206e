// The picture: renderer, lights, floor. Without WebGL there is a line of text in its place.

import {
  DirectionalLight,
  Group,
  HemisphereLight,
  type Object3D,
  PCFShadowMap,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";

import { type Bounds, boundsOf } from "./bounds";
import { View } from "./camera";
import { make } from "./dom";
import { floorOf, setFloorTheme, upOf } from "./floor";
import type { Motion } from "./recording";
import { type BodyNode, bodyNodes } from "./scene";

const SLOW = 0.07; // s
const MOST_SLOW = 5;

export class Stage {
  readonly element = make("div", { class: "stage" });
  readonly canvas = make("canvas", { tabindex: 0, "aria-label": "the robots in three dimensions" });
  readonly nodes: BodyNode[];
  bounds: Bounds;
  readonly view: View;
  readonly floor: Group;
  private readonly scene = new Scene();
  /** Drawn over the scene: what lies inside bodies is seen all the same. */
  private readonly overlay = new Scene();
  private readonly lights = new Group();
  private readonly renderer: WebGLRenderer | null;
  private readonly key = new DirectionalLight(0xffffff, 1.9);
  private resized: ResizeObserver | null = null;
  private stale = true;
  private pixelRatio = 2;
  private slowFrames = 0;

  constructor(motion: Motion) {
    this.nodes = bodyNodes(motion);
    this.nodes.forEach(({ node }) => this.scene.add(node));
    this.bounds = boundsOf(motion, this.nodes);
    this.view = new View(this.canvas, motion, () => this.invalidate());
    this.floor = floorOf(motion, this.bounds.first.getSize(new Vector3()).length());
    this.placeFloor(motion);
    this.addLights(motion);
    this.scene.add(this.floor, this.lights);
    this.overlay.add(new HemisphereLight(0xffffff, 0xb4b8c0, 3));
    this.renderer = newRenderer(this.canvas);
    this.element.append(this.renderer ? this.canvas : withoutWebGL());
    this.watchSize();
  }

  /** Measure the space of the motion anew: its tracks have changed. */
  measure(motion: Motion): void {
    this.bounds = boundsOf(motion, this.nodes);
    this.placeFloor(motion);
    this.invalidate();
  }

  /** Give back what the graphics card holds; the stage is not used afterwards. */
  dispose(): void {
    this.resized?.disconnect();
    this.renderer?.dispose();
    this.renderer?.forceContextLoss();
  }

  /** Whether pictures can be drawn here. */
  get draws(): boolean {
    return this.renderer !== null;
  }

  add(object: Object3D): void {
    this.scene.add(object);
    this.invalidate();
  }

  addOver(object: Object3D): void {
    this.overlay.add(object);
    this.invalidate();
  }

  setTheme(dark: boolean): void {
    setFloorTheme(this.floor, dark);
    this.invalidate();
  }

  /** The next frame draws the scene anew. */
  invalidate(): void {
    this.stale = true;
  }

  /** Draw if anything has changed. */
  draw(): void {
    if (this.stale && this.renderer) {
      this.stale = false;
      this.renderer.clear();
      this.renderer.render(this.scene, this.view.camera);
      this.renderer.clearDepth();
      this.renderer.render(this.overlay, this.view.camera);
    }
  }

  /** Let the light come from the same side of a point, so that shadows stay below the robot. */
  lightAround(point: Vector3): void {
    this.lights.position.copy(point);
    this.lights.updateMatrixWorld();
  }

  /** Follow its size, in the window that it is in. */
  watchSize(): void {
    this.resized?.disconnect();
    const Observer = (this.element.ownerDocument.defaultView ?? window).ResizeObserver;
    this.resized = new Observer(() => this.resize());
    this.resized.observe(this.element);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.renderer?.setPixelRatio(Math.min(window.devicePixelRatio, this.pixelRatio));
    this.renderer?.setSize(width, height, false);
    this.view.resize(width, height);
    this.invalidate();
  }

  /** Told the seconds of each frame while it plays: where there is no graphics card, pictures are
   * drawn without shadows and no finer than the page. */
  watchSpeed(seconds: number): void {
    this.slowFrames = seconds > SLOW ? this.slowFrames + 1 : 0;
    if (this.slowFrames === MOST_SLOW && this.key.castShadow) {
      this.key.castShadow = false;
      this.pixelRatio = 1;
      this.resize();
    }
  }

  private placeFloor(motion: Motion): void {
    const { whole, first, fixed } = this.bounds;
    const axis = motion.up;
    const middle = first.getCenter(new Vector3());
    const step = this.floor.userData["step"] as number;
    for (const side of ["x", "y", "z"] as const) {
      middle[side] = step * Math.round(middle[side] / step); // lines at whole numbers of steps
    }
    middle[axis] = whole.min[axis] - 1e-3 * motion.reach;
    this.floor.position.copy(middle);
    this.floor.visible = fixed;
  }

  private addLights(motion: Motion): void {
    const up = upOf(motion);
    const size = this.bounds.first.getSize(new Vector3()).length();
    const sky = new HemisphereLight(0xffffff, 0xb4b8c0, 2);
    sky.position.copy(up);
    const side = new Vector3(1, 1, 1).sub(up);
    const { key } = this;
    key.position.copy(up).multiplyScalar(3 * size).addScaledVector(side, size).add(crosswise(up, size));
    key.castShadow = true;
    key.shadow.mapSize.set(2048, 2048);
    key.shadow.normalBias = 0.004 * size;
    Object.assign(key.shadow.camera, { left: -size, right: size, top: size, bottom: -size, near: size / 10, far: 8 * size });
    const fill = new DirectionalLight(0xdfe8ff, 0.9);
    fill.position.copy(up).multiplyScalar(0.5).sub(side);
    this.lights.add(sky, key, key.target, fill, fill.target);
    this.lightAround(this.bounds.first.getCenter(new Vector3()));
  }
}

function crosswise(up: Vector3, size: number): Vector3 {
  return new Vector3(up.y, up.z, up.x).multiplyScalar(-1.4 * size);
}

function newRenderer(canvas: HTMLCanvasElement): WebGLRenderer | null {
  try {
    if (!canvas.getContext("webgl2", { antialias: true, alpha: true })) {
      return null;
    }
    const renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    renderer.autoClear = false;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    return renderer;
  } catch {
    return null;
  }
}

function withoutWebGL(): HTMLElement {
  const text =
    "This browser has no WebGL, so the robots cannot be drawn. Scopes, diagram and values work. " +
    "Hardware acceleration may be off in the browser's settings.";
  return make("p", { class: "no-webgl", role: "alert" }, text);
}
