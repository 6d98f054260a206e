// What the picture shows besides the bodies: a panel of choices over the stage.

import { make } from "./dom";
import type { Motion } from "./recording";
import type { Tracer } from "./trails";

export interface Options {
  /** The index of the body that the camera follows; -1 for none. */
  follow: number;
  frames: boolean;
  floor: boolean;
  forces: boolean;
  /** Boxes that stand for inertias. */
  inertias: boolean;
  forceScale: number;
  /** The indices of the points that leave trails. */
  trails: Set<number>;
}

const MOST_TRAILS_AT_FIRST = 4;

/** What is shown at first. */
export function firstOptions(motion: Motion, tracers: readonly Tracer[], fixed: boolean): Options {
  const parents = new Set(motion.bodies.map(({ parent }) => parent));
  const ends = tracers.flatMap(({ isFrame, body }, index) => {
    const last = body.frames.length === 0 && !parents.has(motion.bodies.indexOf(body));
    return isFrame || (last && motion.bodies.length > 1) ? [index] : [];
  });
  const trails = new Set(ends.length <= MOST_TRAILS_AT_FIRST ? ends : []);
  return { follow: -1, frames: false, floor: fixed, forces: false, inertias: true, forceScale: 1, trails };
}

export type Switch = "frames" | "floor" | "forces" | "inertias";

export class OptionsPanel {
  readonly element: HTMLDetailsElement;
  private readonly boxes: Record<Switch, HTMLInputElement>;

  constructor(
    private readonly options: Options,
    motion: Motion,
    tracers: readonly Tracer[],
    private readonly changed: () => void,
    fit: () => void,
  ) {
    const [frames, floor, forces, inertias] = [this.box("frames"), this.box("floor"), this.box("forces"), this.box("inertias")];
    this.boxes = { frames, floor, forces, inertias };
    const boxes = motion.bodies.some(({ shapes }) => shapes.some(({ stands_for }) => stands_for === "inertia"));
    this.element = make(
      "details",
      { class: "options" },
      make("summary", {}, "View"),
      make("button", { type: "button", onclick: fit }, "Fit to view", make("kbd", {}, "f")),
      labelled(frames, "Frames", "x"),
      labelled(floor, "Floor", "g"),
      ...(boxes ? [labelled(inertias, "Boxes of inertia", "i")] : []),
      ...(motion.arrows.length ? [labelled(forces, "Forces", "v"), this.scale()] : []),
      this.follow(motion),
      ...(tracers.length ? [this.trails(tracers)] : []),
    );
  }

  /** Switch one choice, as a key does. */
  toggle(name: Switch): void {
    this.options[name] = !this.options[name];
    this.boxes[name].checked = this.options[name];
    this.changed();
  }

  private box(name: Switch): HTMLInputElement {
    const input = make("input", { type: "checkbox", checked: this.options[name] });
    input.addEventListener("change", () => this.toggle(name));
    return input;
  }

  private scale(): HTMLElement {
    const input = make("input", { type: "range", min: -1, max: 1, step: 0.05, value: 0 });
    input.addEventListener("input", () => {
      this.options.forceScale = 10 ** input.valueAsNumber;
      this.changed();
    });
    return labelled(input, "Length of forces");
  }

  private follow(motion: Motion): HTMLElement {
    const select = make("select", {}, make("option", { value: -1 }, "nothing"));
    select.append(...motion.bodies.map(({ name }, index) => make("option", { value: index }, name)));
    select.value = String(this.options.follow);
    select.addEventListener("change", () => {
      this.options.follow = Number(select.value);
      this.changed();
    });
    return labelled(select, "Camera follows");
  }

  private trails(tracers: readonly Tracer[]): HTMLElement {
    const boxes = tracers.map(({ name }, index) => {
      const input = make("input", { type: "checkbox", checked: this.options.trails.has(index) });
      input.addEventListener("change", () => {
        this.options.trails[input.checked ? "add" : "delete"](index);
        this.changed();
      });
      return labelled(input, name);
    });
    return make("fieldset", {}, make("legend", {}, "Trails"), ...boxes);
  }
}

function labelled(input: HTMLElement, text: string, key = ""): HTMLElement {
  const check = input instanceof HTMLInputElement && input.type === "checkbox";
  const parts = check ? [input, make("span", {}, text)] : [make("span", {}, text), input];
  return make("label", {}, ...parts, ...(key ? [make("kbd", {}, key)] : []));
}
