// The page: one clock, and everything that shows its time.

import { Quaternion, Vector3 } from "three";

import { Arrows } from "./arrows";
import { middleOf } from "./bounds";
import { advance, newClock, seek } from "./clock";
import { Controls } from "./controls";
import { Diagram } from "./diagram";
import { make } from "./dom";
import { helpDialog, listen } from "./keys";
import { layOut, section } from "./layout";
import { firstOptions, type Options, OptionsPanel } from "./options";
import { type Motion, type Pose, readMotion, type Recording } from "./recording";
import { placeBodies } from "./scene";
import { Readout, scopesOf } from "./scopes";
import { Stage } from "./stage";
import style from "./style.css?inline";
import { tracersOf, Trail } from "./trails";

declare global {
  interface Window {
    spartRecording?: Recording;
    spart?: Api;
  }
}

/** What a page that embeds the viewer, and tests, may use. */
interface Api {
  readonly time: number;
  seek(time: number): void;
  /** Where the scene has each body, in world axes. */
  poses(): Record<string, Pose>;
}

/** The robots with all that is drawn about them. */
class Theatre {
  readonly stage: Stage;
  readonly tracers;
  readonly options: Options;
  private readonly arrows: Arrows;
  private readonly trails = new Map<number, Trail>();
  private followed = -1;

  constructor(motion: Motion) {
    this.stage = new Stage(motion);
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

function extent(box: { getSize(into: Vector3): Vector3 }): number {
  return box.getSize(new Vector3()).length();
}

function mount(app: HTMLElement, recording: Recording): Api {
  document.head.append(make("style", {}, style));
  const motion = readMotion(recording);
  const clock = newClock(motion.start, motion.end);
  const theatre = new Theatre(motion);
  const { stage } = theatre;
  const goTo = (time: number): void => {
    seek(clock, time);
    show();
  };
  const scopes = scopesOf(motion, goTo);
  const diagram = Diagram.of(motion);
  const others = new Readout(motion.signals.filter(({ scope }) => scope === null), false);
  const shown: { show(time: number): void }[] = [theatre, ...scopes, others, ...(diagram ? [diagram] : [])];
  const show = (): void => {
    shown.forEach((part) => part.show(clock.time));
    controls.show();
  };
  const controls = new Controls(clock, () => show());
  const fit = (): void => {
    theatre.fit();
    show();
  };
  const options = new OptionsPanel(theatre.options, motion, theatre.tracers, () => show(), fit);
  const sections = [
    ...(diagram ? [section("Diagram", diagram.element)] : []),
    ...(scopes.length ? [section("Scopes", ...scopes.map(({ element }) => element))] : []),
    ...(motion.signals.some(({ scope }) => scope === null) ? [section("Values", others.element)] : []),
  ];
  const help = helpDialog();
  const panel = sections.length ? make("aside", { class: "panel", "aria-label": "Signals" }, ...sections) : null;
  const heading = make("h1", { class: "heading" }, motion.name);
  const over = stage.draws ? [heading, options.element, help] : [heading, help];
  const togglePanel = layOut({ app, stage: stage.element, panel, controls: controls.element, over });
  controls.element.append(make("button", { type: "button", title: "Keys (?)", "aria-label": "Keys", onclick: () => help.showModal() }, "?"));
  diagram?.label();
  listen({ clock, controls, view: stage.view, options, fit, togglePanel, help });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const setTheme = (): void => {
    stage.setTheme(dark.matches);
    scopes.forEach((scope) => scope.redraw());
  };
  dark.addEventListener("change", setTheme);
  stage.resize();
  setTheme();
  fit();
  run((seconds) => {
    if (clock.playing) {
      advance(clock, seconds);
      stage.watchSpeed(seconds);
      show();
    }
    stage.draw();
  });
  return api(clock, stage, goTo);
}

/** With each frame of the browser, the seconds since the last one. */
function run(frame: (seconds: number) => void): void {
  let before = performance.now();
  const next = (now: number): void => {
    frame(Math.min(Math.max(now - before, 0) / 1000, 0.25)); // a page in the background does not leap
    before = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

function api(clock: { readonly time: number }, stage: Stage, goTo: (time: number) => void): Api {
  return {
    get time() {
      return clock.time;
    },
    seek: goTo,
    poses: () =>
      Object.fromEntries(
        stage.nodes.map(({ body, node }) => {
          const p = node.getWorldPosition(new Vector3());
          const q = node.getWorldQuaternion(new Quaternion());
          return [body.name, [p.x, p.y, p.z, q.x, q.y, q.z, q.w]];
        }),
      ),
  };
}

window.spart = mount(document.getElementById("app")!, window.spartRecording!);
