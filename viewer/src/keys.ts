// The keyboard: every action of the page has a key.

import type { View } from "./camera";
import type { Clock } from "./clock";
import type { Controls } from "./controls";
import { make } from "./dom";
import type { OptionsPanel } from "./options";

/** The picture of robots. */
export interface Seen {
  view: View;
  options: OptionsPanel;
  fit(): void;
}

export interface Acting {
  clock: Clock;
  controls: Controls;
  /** Null where no robots are drawn. */
  seen: Seen | null;
  togglePanel(): void;
  help: HTMLDialogElement;
}

const TURN = 0.1;
const HELP: [keys: string, what: string][] = [
  ["space", "play or pause"],
  ["← →", "back and forth by a hundredth (with , and . by a thousandth)"],
  ["PageUp PageDown", "by a tenth"],
  ["Home End", "to the start, to the end"],
  ["[ ]", "slower, faster"],
  ["o", "loop"],
  ["Shift + arrows", "turn the camera"],
  ["w a s d", "shift the camera"],
  ["+ −", "nearer, farther"],
  ["f", "fit to view"],
  ["x  g  v  i", "frames, floor, forces, boxes of inertia"],
  ["p", "hide or show the panel"],
  ["?", "this list"],
];

type Actions = Record<string, () => void>;

/** Arrows that turn the camera. */
export function turning(view: View): Actions {
  return {
    ArrowLeft: () => view.turn(-TURN, 0),
    ArrowRight: () => view.turn(TURN, 0),
    ArrowUp: () => view.turn(0, TURN),
    ArrowDown: () => view.turn(0, -TURN),
  };
}

/** Keys of the picture: the camera, and what is drawn. */
export function seeing({ view, options, fit }: Seen): Actions {
  return {
    "+": () => view.zoom(1 / 1.15),
    "=": () => view.zoom(1 / 1.15),
    "-": () => view.zoom(1.15),
    w: () => view.pan(0, 0.04),
    s: () => view.pan(0, -0.04),
    a: () => view.pan(-0.04, 0),
    d: () => view.pan(0.04, 0),
    f: fit,
    x: () => options.toggle("frames"),
    g: () => options.toggle("floor"),
    v: () => options.toggle("forces"),
    i: () => options.toggle("inertias"),
  };
}

/** Act on a key. Whether it was one of ours. */
function press(key: string, shift: boolean, on: Acting): boolean {
  const { controls, seen, clock } = on;
  const actions: Actions = {
    ...(seen ? seeing(seen) : {}),
    " ": () => controls.toggle(),
    ArrowLeft: () => controls.step(-0.01),
    ArrowRight: () => controls.step(0.01),
    ArrowUp: () => controls.step(0.01),
    ArrowDown: () => controls.step(-0.01),
    ...(shift && seen ? turning(seen.view) : {}),
    ",": () => controls.step(-0.001),
    ".": () => controls.step(0.001),
    PageUp: () => controls.step(0.1),
    PageDown: () => controls.step(-0.1),
    Home: () => controls.go(clock.start),
    End: () => controls.go(clock.end),
    "[": () => controls.faster(-1),
    "]": () => controls.faster(1),
    o: () => controls.toggleLoop(),
    p: () => on.togglePanel(),
    "?": () => on.help.showModal(),
  };
  const action = actions[key.length === 1 ? key.toLowerCase() : key];
  action?.();
  return action !== undefined;
}

/** Listen to the keys of the page, until the signal; elements that use a key themselves keep it. */
export function listen(on: Acting, signal?: AbortSignal): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || on.help.open || keeps(event)) {
      return;
    }
    if (press(event.key, event.shiftKey, on)) {
      event.preventDefault();
    }
  }, { signal });
}

function keeps({ target, key }: KeyboardEvent): boolean {
  if (target instanceof HTMLSelectElement) {
    return true;
  }
  if (target instanceof HTMLInputElement && target.type === "text") {
    return true;
  }
  if (target instanceof HTMLInputElement && target.type === "range") {
    return target.closest(".options, .knob") !== null && /^(Arrow|Page|Home|End)/.test(key);
  }
  const pressable = target instanceof Element && target.closest("button, summary, input, [role=separator]") !== null;
  return pressable && (key === " " || (target.getAttribute("role") === "separator" && key.startsWith("Arrow")));
}

/** The list of keys, as a dialog. */
export function helpDialog(): HTMLDialogElement {
  const rows = HELP.map(([keys, what]) => make("tr", {}, make("th", { scope: "row" }, keys), make("td", {}, what)));
  const close = make("form", { method: "dialog" }, make("button", {}, "Close"));
  const note = make("p", {}, "Pointer: drag turns, right drag or Shift shifts, the wheel zooms; drag in a scope to scrub. In the diagram, too, drag shifts, Ctrl with the wheel zooms, and a double click zooms in and out.");
  const title = make("h2", {}, "Keys");
  return make("dialog", { "aria-label": "Keys" }, title, make("table", {}, ...rows), note, close);
}
