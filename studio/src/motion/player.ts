// The 3-D of the runs that are shown: the scene of `spart animate`, at the time of the page.

import { middleOf } from "../../../viewer/src/bounds";
import { seeing, turning } from "../../../viewer/src/keys";
import { OptionsPanel } from "../../../viewer/src/options";
import { type Motion, readMotion, type Recording } from "../../../viewer/src/recording";
import { Theatre } from "../../../viewer/src/theatre";
import "../../../viewer/src/theatre.css";
import { adopt, LiveTracks } from "./live";
import { type Force, Pushing } from "./push";

const TRAILS_EVERY = 500; // ms, while tracks grow

/** What the page says of its windows and their frames. */
interface Page {
  atNextFrame: (work: () => void) => void;
  hearMoves: (listener: () => void) => () => void;
}

export class Player {
  readonly pushing: Pushing;
  private readonly motion: Motion;
  private theatre: Theatre;
  private options: OptionsPanel;
  private live: LiveTracks | null = null;
  private moving = 0;
  private time = 0;
  private before = performance.now();
  private trailsDrawn = 0;
  private over = false;
  private readonly endMoves: () => void;
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private readonly setTheme = (): void => this.theatre.stage.setTheme(this.dark.matches);

  constructor(
    private readonly host: HTMLElement,
    recording: Recording,
    send: (force: Force) => Promise<unknown>,
    private readonly page: Page,
  ) {
    this.motion = readMotion(recording);
    this.theatre = new Theatre(this.motion);
    const { stage } = this.theatre;
    host.append(stage.element);
    this.options = this.panel();
    this.pushing = new Pushing(stage, this.motion.reach, send);
    this.dark.addEventListener("change", this.setTheme);
    stage.canvas.addEventListener("keydown", (event) => this.press(event));
    stage.resize();
    this.endMoves = page.hearMoves(() => stage.watchSize());
    this.setTheme();
    this.fit();
    this.frame();
  }

  get draws(): boolean {
    return this.theatre.stage.draws;
  }

  get bodies(): string[] {
    return this.motion.bodies.map(({ name }) => name);
  }

  /** Where the scene has each body, for tests. */
  poses(): Record<string, number[]> {
    return Object.fromEntries(
      this.theatre.stage.nodes.map(({ body, node }) => [body.name, [...node.position.toArray(), ...node.quaternion.toArray()]]),
    );
  }

  /** Where the middle of each body is on the page [pixels], for tests. */
  places(): Record<string, [x: number, y: number]> {
    const { nodes, view, canvas } = this.theatre.stage;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return Object.fromEntries(
      nodes.map(({ body, node }) => {
        const { x, y } = middleOf(node, body.com).project(view.camera);
        return [body.name, [left + ((x + 1) / 2) * width, top + ((1 - y) / 2) * height]];
      }),
    );
  }

  /** Show another time. */
  show(time: number): void {
    this.time = time;
    this.theatre.show(time);
  }

  /** Poses of a run that goes on. */
  append(rows: number, numbers: Float64Array): void {
    this.live ??= new LiveTracks(this.motion);
    if (!this.live.append(rows, numbers)) return;
    if (this.live.moving !== this.moving) this.restage();
    else if (performance.now() - this.trailsDrawn > TRAILS_EVERY) {
      this.theatre.clearTrails();
      this.trailsDrawn = performance.now();
    }
    this.moving = this.live.moving;
    this.show(this.time);
  }

  /** The whole recording of a run. Whether it has the same bodies, and so is shown. */
  take(recording: Recording): boolean {
    if (!adopt(this.motion, readMotion(recording))) return false;
    this.live = null;
    this.restage();
    return true;
  }

  dispose(): void {
    this.over = true;
    this.endMoves();
    this.pushing.letGo();
    this.dark.removeEventListener("change", this.setTheme);
    this.theatre.stage.dispose();
    this.host.replaceChildren();
  }

  /** Other bodies move than before: other trails, another floor, perhaps a body to follow. */
  private restage(): void {
    const { stage } = this.theatre;
    this.theatre.clear();
    stage.measure(this.motion);
    const before = this.theatre.options;
    this.theatre = new Theatre(this.motion, stage);
    const { frames, forces, inertias, forceScale } = before;
    Object.assign(this.theatre.options, { frames, forces, inertias, forceScale });
    this.options.element.remove();
    this.options = this.panel();
    this.show(this.time);
  }

  private panel(): OptionsPanel {
    const { theatre } = this;
    const panel = new OptionsPanel(theatre.options, this.motion, theatre.tracers, () => this.show(this.time), () => this.fit());
    if (theatre.stage.draws) this.host.append(panel.element);
    return panel;
  }

  private fit(): void {
    this.theatre.fit();
    this.show(this.time);
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { view } = this.theatre.stage;
    const actions = { ...turning(view), ...seeing({ view, options: this.options, fit: () => this.fit() }) };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }

  private readonly frame = (): void => {
    if (this.over) return;
    const now = performance.now();
    if (this.live) this.theatre.stage.watchSpeed((now - this.before) / 1000);
    this.before = now;
    this.pushing.show();
    this.theatre.stage.draw();
    this.page.atNextFrame(this.frame);
  };
}
