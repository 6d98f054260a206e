// The page: one clock, and everything that shows its time.

import { Quaternion, Vector3 } from "three";

import { advance, newClock, seek } from "./clock";
import { Controls } from "./controls";
import { Diagram } from "./diagram";
import { make } from "./dom";
import { eachFrame } from "./frames";
import { helpDialog, listen } from "./keys";
import { layOut, section } from "./layout";
import { OptionsPanel } from "./options";
import { type Pose, readMotion, type Recording } from "./recording";
import { Readout, scopesOf } from "./scopes";
import type { Stage } from "./stage";
import style from "./style.css?inline";
import { Theatre } from "./theatre";
import theatreStyle from "./theatre.css?inline";

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

function mount(app: HTMLElement, recording: Recording): Api {
  document.head.append(make("style", {}, style + theatreStyle));
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
  listen({ clock, controls, seen: { view: stage.view, options, fit }, togglePanel, help });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const setTheme = (): void => {
    stage.setTheme(dark.matches);
    scopes.forEach((scope) => scope.redraw());
  };
  dark.addEventListener("change", setTheme);
  stage.resize();
  setTheme();
  fit();
  eachFrame((seconds) => {
    if (clock.playing) {
      advance(clock, seconds);
      stage.watchSpeed(seconds);
      show();
    }
    stage.draw();
  });
  return api(clock, stage, goTo);
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
