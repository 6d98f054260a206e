// The bar of time: play, scrub, speed, loop.

import { type Clock, nextSpeed, seek, timeText, togglePlay } from "./clock";
import { icon, iconButton, make, setText } from "./dom";

const PLAY = "M4 2.5v11l9.5-5.5z";
const PAUSE = "M3.5 2.5h3.2v11H3.5zM9.3 2.5h3.2v11H9.3z";
const TO_START = "M3 2.5h2v11H3zM13.5 2.5v11L6 8z";
const LOOP = "M11 1.5l3 2.5-3 2.5V5H6a3 3 0 0 0-3 3H1a5 5 0 0 1 5-5h5zM5 14.5L2 12l3-2.5V11h5a3 3 0 0 0 3-3h2a5 5 0 0 1-5 5H5z";
const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10];

export class Controls {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly now = make("output", { class: "time", "aria-live": "off" });
  private readonly speed: HTMLSelectElement;
  private readonly loop: HTMLButtonElement;
  private shownPlaying: boolean | null = null;

  constructor(private readonly clock: Clock, private readonly changed: () => void) {
    const end = timeText(clock.end, clock.end - clock.start);
    this.play = iconButton(PLAY, "Play", () => this.toggle());
    this.slider = make("input", { type: "range", min: clock.start, max: clock.end, step: "any", "aria-label": "Time" });
    this.slider.addEventListener("input", () => this.go(this.slider.valueAsNumber));
    this.speed = make("select", { "aria-label": "Speed", title: "Speed ([ and ])" });
    this.speed.append(...SPEEDS.map((speed) => make("option", { value: speed }, `${speed}×`)));
    this.speed.addEventListener("change", () => this.setSpeed(Number(this.speed.value)));
    this.loop = iconButton(LOOP, "Loop (o)", () => this.toggleLoop());
    const start = iconButton(TO_START, "To the start (Home)", () => this.go(clock.start));
    const total = make("span", { class: "total" }, `/ ${end}`);
    this.element = make("div", { class: "controls", role: "group", "aria-label": "Time" });
    this.element.hidden = clock.end <= clock.start; // a moment, such as a robot at rest
    this.element.append(start, this.play, this.slider, this.now, total, this.speed, this.loop);
    this.show();
  }

  toggle(): void {
    togglePlay(this.clock);
    this.changed();
  }

  toggleLoop(): void {
    this.clock.loop = !this.clock.loop;
    this.changed();
  }

  go(time: number): void {
    seek(this.clock, time);
    this.changed();
  }

  /** By a share of the whole time. */
  step(share: number): void {
    this.go(this.clock.time + share * (this.clock.end - this.clock.start));
  }

  faster(way: 1 | -1): void {
    this.setSpeed(nextSpeed(this.clock.speed, way));
  }

  show(): void {
    const { time, start, end, playing, speed, loop } = this.clock;
    const text = timeText(time, end - start);
    setText(this.now, text);
    this.slider.value = String(time);
    this.slider.setAttribute("aria-valuetext", text);
    this.slider.style.setProperty("--done", `${end > start ? (100 * (time - start)) / (end - start) : 0}%`);
    this.speed.value = String(speed);
    this.loop.setAttribute("aria-pressed", String(loop));
    if (playing !== this.shownPlaying) {
      this.shownPlaying = playing;
      this.play.replaceChildren(icon(playing ? PAUSE : PLAY));
      this.play.title = playing ? "Pause (space)" : "Play (space)";
      this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    }
  }

  private setSpeed(speed: number): void {
    this.clock.speed = speed;
    this.changed();
  }
}
