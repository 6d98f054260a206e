// Pushing a body with the mouse: a force from the point that was taken toward the pointer.

import { ArrowHelper, Plane, Raycaster, Vector2, Vector3 } from "three";

import type { BodyNode } from "../../../viewer/src/scene";
import type { Stage } from "../../../viewer/src/stage";
import { Newest } from "../run/newest";

const EVERY = 50; // ms: at most 20 times a second
const COLOUR = 0xd6336c;

export interface Force {
  /** Its place among the bodies of the recording. */
  body: number;
  force: [number, number, number];
  point?: [number, number, number];
}

interface Taken {
  body: BodyNode;
  /** In the body's axes. */
  at: Vector3;
  pointer: Vector2;
}

export class Pushing {
  /** Whether dragging a body pushes it. */
  active = false;
  /** Force of a drag of one metre [N/m]. */
  stiffness: number;
  private taken: Taken | null = null;
  private readonly arrow = new ArrowHelper(new Vector3(1, 0, 0), new Vector3(), 1, COLOUR);
  private readonly label = document.createElement("output");
  private readonly sending: Newest<Force>;

  constructor(
    private readonly stage: Stage,
    reach: number,
    send: (force: Force) => Promise<unknown>,
  ) {
    this.stiffness = 10 / reach;
    this.sending = new Newest(send, EVERY);
    this.arrow.visible = false;
    this.label.className = "push-label";
    this.label.hidden = true;
    stage.addOver(this.arrow);
    stage.element.append(this.label);
    stage.element.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    stage.element.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      stage.element.addEventListener(end, () => this.letGo());
    }
  }

  /** With each frame: the body has moved under the pointer. */
  show(): void {
    if (!this.taken) return;
    const { body, at, pointer } = this.taken;
    const point = body.node.localToWorld(at.clone());
    const pulled = this.onPlane(pointer, point).sub(point);
    const force = pulled.clone().multiplyScalar(this.stiffness);
    const length = pulled.length();
    this.arrow.visible = length > 0;
    this.arrow.position.copy(point);
    if (length > 0) {
      this.arrow.setDirection(pulled.clone().normalize());
      this.arrow.setLength(length, 0.2 * length, 0.08 * length);
    }
    this.label.textContent = `${force.length().toPrecision(3)} N on ${body.body.name}`;
    this.sending.give({ body: this.indexOf(body), force: force.toArray(), point: point.toArray() });
    this.stage.invalidate();
  }

  letGo(): void {
    if (!this.taken) return;
    this.sending.give({ body: this.indexOf(this.taken.body), force: [0, 0, 0] });
    this.taken = null;
    this.arrow.visible = false;
    this.label.hidden = true;
    this.stage.invalidate();
  }

  private indexOf(body: BodyNode): number {
    return this.stage.nodes.indexOf(body);
  }

  private down(event: PointerEvent): void {
    if (!this.active || event.button !== 0 || event.target !== this.stage.canvas) return;
    const pointer = this.pointerOf(event);
    const hit = this.hit(pointer);
    if (!hit) return; // elsewhere a drag turns the camera
    event.stopPropagation();
    this.stage.element.setPointerCapture(event.pointerId);
    this.taken = { body: hit.body, at: hit.body.node.worldToLocal(hit.point.clone()), pointer };
    this.label.hidden = false;
    this.place(event);
  }

  private move(event: PointerEvent): void {
    if (!this.taken) return;
    this.taken.pointer = this.pointerOf(event);
    this.place(event);
  }

  private place({ clientX, clientY }: PointerEvent): void {
    const { left, top } = this.stage.element.getBoundingClientRect();
    this.label.style.transform = `translate(${clientX - left + 14}px, ${clientY - top + 8}px)`;
  }

  private hit(pointer: Vector2): { body: BodyNode; point: Vector3 } | null {
    const caster = this.caster(pointer);
    let nearest: { body: BodyNode; point: Vector3; distance: number } | null = null;
    for (const body of this.stage.nodes) {
      const shapes = body.node.children.filter((child) => child !== body.frames);
      const [first] = caster.intersectObjects(shapes, true);
      if (first && (!nearest || first.distance < nearest.distance)) nearest = { body, point: first.point, distance: first.distance };
    }
    return nearest;
  }

  /** Where the pointer is in the plane through a point that faces the camera. */
  private onPlane(pointer: Vector2, point: Vector3): Vector3 {
    const facing = this.stage.view.camera.getWorldDirection(new Vector3());
    const plane = new Plane().setFromNormalAndCoplanarPoint(facing, point);
    return this.caster(pointer).ray.intersectPlane(plane, new Vector3()) ?? point.clone();
  }

  private caster(pointer: Vector2): Raycaster {
    const caster = new Raycaster();
    caster.setFromCamera(pointer, this.stage.view.camera);
    return caster;
  }

  private pointerOf({ clientX, clientY }: PointerEvent): Vector2 {
    const { left, top, width, height } = this.stage.element.getBoundingClientRect();
    return new Vector2((2 * (clientX - left)) / width - 1, 1 - (2 * (clientY - top)) / height);
  }
}
