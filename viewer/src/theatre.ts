// The robots with all that is drawn about them: forces, trails, frames, a floor.

import { type Box3, Vector3 } from "three";

import { Arrows } from "./arrows";
import { middleOf } from "./bounds";
import { firstOptions, type Options } from "./options";
import type { Motion } from "./recording";
import { placeBodies } from "./scene";
import { Stage } from "./stage";
import { type Tracer, tracersOf, Trail } from "./trails";

export class Theatre {
  readonly stage: Stage;
  readonly tracers: Tracer[];
  readonly options: Options;
  private readonly arrows: Arrows;
  private readonly trails = new Map<number, Trail>();
  private followed = -1;

  /** stage: one that shows the bodies of this motion already. */
  constructor(motion: Motion, stage = new Stage(motion)) {
    this.stage = stage;
    this.tracers = tracersOf(motion);
    const { whole, first, fixed } = this.stage.bounds;
    this.options = firstOptions(motion, this.tracers, fixed);
    const strays = extent(whole) > 4 * extent(first);
    if (strays && !fixed) {
      this.options.follow = motion.bodies.findIndex(({ parent }) => parent < 0);
    }
    this.arrows = new Arrows(motion, this.stage.nodes);
    this.stage.addOver(this.arrows.object);
  }

  fit(): void {
    const { whole, first } = this.stage.bounds;
    const follows = this.options.follow >= 0;
    this.stage.view.fit(follows ? first : whole);
    this.followed = -1;
  }

  /** Take away what was drawn about the bodies; the stage stays. */
  clear(): void {
    this.arrows.object.removeFromParent();
    this.clearTrails();
  }

  /** Draw trails anew with the next time that is shown: their tracks have grown. */
  clearTrails(): void {
    this.trails.forEach((trail) => trail.dispose());
    this.trails.clear();
  }

  show(time: number): void {
    const { stage, options, arrows } = this;
    placeBodies(stage.nodes, time);
    for (const { frames, inertias } of stage.nodes) {
      frames.visible = options.frames;
      inertias.forEach((box) => (box.visible = options.inertias));
    }
    stage.floor.visible = options.floor;
    arrows.object.visible = options.forces;
    arrows.scale = options.forceScale;
    arrows.show(time);
    this.showTrails(time);
    this.follow();
    stage.invalidate();
  }

  private follow(): void {
    const { stage, options } = this;
    const target = stage.nodes[options.follow];
    const point = target ? middleOf(target.node, target.body.com) : null;
    if (point && this.followed !== options.follow) {
      stage.view.follow(null);
      stage.view.lookAt(point);
    }
    stage.view.follow(point);
    this.followed = options.follow;
    if (point) {
      stage.lightAround(point);
    }
  }

  private showTrails(time: number): void {
    for (const [index, trail] of this.trails) {
      if (!this.options.trails.has(index)) {
        trail.dispose();
        this.trails.delete(index);
      }
    }
    for (const index of this.options.trails) {
      let trail = this.trails.get(index);
      if (!trail) {
        trail = new Trail(this.tracers[index]!, index);
        this.trails.set(index, trail);
        this.stage.add(trail.object);
      }
      trail.show(time);
    }
  }
}

function extent(box: Box3): number {
  return box.getSize(new Vector3()).length();
}
