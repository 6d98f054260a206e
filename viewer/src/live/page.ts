// The page that runs: sliders, and everything that shows the run of their values.

import { advance, newClock, seek } from "../clock";
import { Controls } from "../controls";
import { Diagram } from "../diagram";
import { make, setText } from "../dom";
import { eachFrame } from "../frames";
import { helpDialog, listen, type Seen } from "../keys";
import { layOut, section } from "../layout";
import { type Motion, type Series, type Signal } from "../recording";
import { Readout, scopesOf } from "../scopes";
import viewerStyle from "../style.css?inline";
import { ClaimsList } from "./claims";
import { csvOf, save } from "./csv";
import type { Model } from "./data";
import style from "./live.css?inline";
import { eachOnce, emptyMotion, fill } from "./motion";
import { ParameterPanel } from "./panel";
import type { Code, Run } from "./program";
import { Runner } from "./runner";
import { SweepPanel } from "./sweep";
import { Values } from "./values";

const MOST_PAST = 3;
const MOST_ON_WIRES = 4;
/** A run is an earlier one, to be kept, if the values rested for this time [ms] afterwards. */
const RESTED = 700;

/** The robots, where there are any. */
export interface Scene {
  element: HTMLElement;
  style: string;
  over: HTMLElement[];
  seen: Seen;
  /** The tracks have changed. */
  update(): void;
  show(time: number): void;
  draw(seconds: number, playing: boolean): void;
  setTheme(dark: boolean): void;
  resize(): void;
  dispose(): void;
}
export type SceneOf = (motion: Motion, refresh: () => void) => Scene;

/** What tests, and a page that embeds this one, may use. */
export interface Api {
  readonly models: Model[];
  readonly run: Run | null;
  readonly values: Values;
  readonly motion: Motion;
  set(name: string, value: number): void;
  seek(time: number): void;
}

declare global {
  interface Window {
    spartModels?: Model[];
    spartLive?: Api;
  }
}

/** Show the diagram: its first variant, or the one that the address names. sceneOf: null in a page
 * without robots. */
export async function open(app: HTMLElement, sceneOf: SceneOf | null): Promise<void> {
  document.head.append(make("style", {}, viewerStyle + style));
  const models = window.spartModels!;
  const codes = await Promise.all(models.map((_, k) => codeOf(k)));
  const page = new LivePage(app, models, codes, sceneOf);
  const follow = (): void => {
    const address = new URLSearchParams(location.hash.slice(1));
    const asked = models.findIndex(({ variant }) => variant !== "" && variant === address.get("variant"));
    page.choose(Math.max(asked, 0), location.hash);
  };
  addEventListener("hashchange", follow); // typed, or a link to other values
  follow();
}

/** The compiled code of a variant, which the page holds as bytes. */
async function codeOf(number: number): Promise<Code> {
  const held = window as unknown as Record<string, Uint8Array<ArrayBuffer> | undefined>;
  const stiff = held[`spartStiff${number}`];
  return {
    module: await WebAssembly.compile(held[`spartModule${number}`]!),
    stiff: stiff ? await WebAssembly.compile(stiff) : null,
  };
}

class LivePage {
  private runner: Runner | null = null;
  private shown: Shown | null = null;
  private run: Run | null = null;
  private past: ReadonlyMap<string, Series>[] = [];
  private rested = 0;
  private values!: Values;
  private model!: Model;
  private number = 0;
  private readonly problem = make("p", { class: "problem", role: "alert", hidden: true });
  private readonly state = make("output", { class: "state" });

  constructor(
    private readonly app: HTMLElement,
    private readonly models: Model[],
    private readonly codes: Code[],
    private readonly sceneOf: SceneOf | null,
  ) {
    eachFrame((seconds) => this.shown?.frame(seconds));
  }

  /** Show a variant, with the values of an address. */
  choose(number: number, hash: string): void {
    this.runner?.stop();
    this.number = number;
    this.model = this.models[number]!;
    this.values = new Values(this.model);
    this.values.take(hash);
    this.shown?.end();
    this.shown = null;
    this.past = [];
    this.runner = new Runner(
      this.model,
      this.codes[number]!,
      (run) => this.take(run),
      (text) => this.tell(text),
    );
    this.runner.ask(this.values.p.slice());
  }

  private take(run: Run): void {
    const now = performance.now();
    if (this.shown && now - this.rested > RESTED) {
      this.past = [...this.past, this.shown.series()].slice(-MOST_PAST);
    }
    this.rested = now;
    this.run = run;
    const bad = run.ending === "failed" || run.ending === "refused";
    this.tell(bad ? `${run.reason}, at t = ${Number(run.end.toPrecision(6))} s` : "");
    setText(this.state, `${run.steps} steps in ${run.took < 10 ? run.took.toFixed(1) : run.took.toFixed(0)} ms${run.ending === "stopped" ? `, stopped at ${Number(run.end.toPrecision(6))} s` : ""}`);
    if (!this.shown) {
      performance.mark("spart first run"); // for benchmarks/web_pages.py
      this.shown = this.build(run);
    }
    this.shown.update(run, this.past);
  }

  private tell(text: string): void {
    setText(this.problem, text);
    this.problem.hidden = text === "";
    if (text && !this.shown) {
      this.app.replaceChildren(this.problem); // not even a first run
    }
  }

  private changed(): void {
    this.remember();
    this.runner?.ask(this.values.p.slice());
  }

  /** Keep the values in the address of the page. */
  private remember(): void {
    const { variant } = this.model;
    const parts = [variant && this.number ? `variant=${encodeURIComponent(variant)}` : "", this.values.text()];
    try {
      history.replaceState(null, "", `#${parts.filter(Boolean).join("&")}`);
    } catch {
      // a page within a notebook has no address of its own
    }
  }

  private build(run: Run): Shown {
    const { model, values } = this;
    const panel = new ParameterPanel(values, () => this.changed());
    const reset = (): void => {
      values.reset();
      this.past = [];
      panel.show();
      this.changed();
    };
    const forget = (): void => {
      this.past = [];
      this.shown?.update(this.run!, []);
    };
    const motion = emptyMotion(model);
    fill(motion, model, run);
    const buttons = make("div", { class: "buttons" },
      make("button", { type: "button", onclick: reset }, "Reset"),
      make("button", { type: "button", title: "Take the faint lines of earlier runs away", onclick: forget }, "Forget earlier runs"),
      make("button", { type: "button", onclick: () => save(csvOf(motion), `${model.name}.csv`) }, "Save as CSV"),
      this.state,
    );
    const variants = this.models.length < 2 ? [] : [make("div", { class: "variants", role: "group", "aria-label": "Variants" },
      ...this.models.map((one, number) => {
        const button = make("button", { type: "button", "aria-pressed": String(number === this.number) }, one.variant);
        button.addEventListener("click", () => {
          this.choose(number, this.values.text());
          this.remember();
        });
        return button;
      }))];
    const claims = new ClaimsList(model.claims);
    const sweep = new SweepPanel(model, this.codes[this.number]!, values);
    const shown = new Shown(this.app, model, motion, this.sceneOf, {
      head: [...variants, buttons, this.problem],
      knobs: panel,
      claims: model.claims.length ? claims : null,
      sweep: values.knobs.length ? sweep : null,
    });
    const page = this;
    window.spartLive = {
      models: this.models,
      get run() { return page.run; },
      get values() { return page.values; },
      motion,
      set: (name, value) => {
        const knob = values.knobs.find((one) => one.name === name);
        if (!knob) throw new Error(`there is no parameter ${name}`);
        values.set(knob, value);
        panel.show();
        this.changed();
      },
      seek: (time) => shown.goTo(time),
    };
    return shown;
  }
}

interface Sections {
  head: HTMLElement[];
  knobs: ParameterPanel;
  claims: ClaimsList | null;
  sweep: SweepPanel | null;
}

/** Everything that shows a run, at the time of one clock. */
class Shown {
  private readonly clock;
  private readonly controls: Controls;
  private readonly scene: Scene | null;
  private readonly scopes;
  private readonly diagram: Diagram | null;
  private readonly others: Readout;
  private readonly ending = new AbortController();

  constructor(app: HTMLElement, private readonly model: Model, private readonly motion: Motion, sceneOf: SceneOf | null, private readonly parts: Sections) {
    const clock = (this.clock = newClock(motion.start, motion.end));
    clock.time = clock.end;
    this.scene = sceneOf?.(motion, () => this.show()) ?? null;
    this.scopes = scopesOf(motion, (time) => this.goTo(time));
    this.diagram = Diagram.of({ ...motion, signals: onWires(motion.signals) });
    this.others = new Readout(motion.signals.filter(({ scope }) => scope === null), false);
    this.controls = new Controls(clock, () => this.show());
    const { head, knobs, claims, sweep } = parts;
    const help = helpDialog();
    const heading = make("h1", { class: "heading" }, motion.name);
    const unscoped = motion.signals.some(({ scope }) => scope === null);
    const [main, besides] = this.scene ? [this.scene.element, this.diagram?.element] : [this.diagram?.element ?? make("div"), null];
    const panel = make("aside", { class: "panel", "aria-label": "Parameters and signals" },
      ...head,
      section("Parameters", knobs.element),
      ...(claims ? [section("Expected", claims.element)] : []),
      ...(this.scopes.length ? [section("Scopes", ...this.scopes.map(({ element }) => element))] : []),
      ...(sweep ? [closed(section("Sweep", sweep.element))] : []),
      ...(besides ? [section("Diagram", besides)] : []),
      ...(unscoped ? [closed(section("Values", this.others.element))] : []),
    );
    const togglePanel = layOut({ app, stage: main, panel, controls: this.controls.element, over: [heading, ...(this.scene?.over ?? []), help] });
    app.classList.add("live", ...(this.scene ? [] : ["flat"]));
    if (this.scene) {
      document.head.append(make("style", {}, this.scene.style));
    }
    this.controls.element.append(make("button", { type: "button", title: "Keys (?)", "aria-label": "Keys", onclick: () => help.showModal() }, "?"));
    this.diagram?.label();
    listen({ clock, controls: this.controls, seen: this.scene?.seen ?? null, togglePanel, help }, this.ending.signal);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const setTheme = (): void => {
      this.scene?.setTheme(dark.matches);
      this.scopes.forEach((scope) => scope.redraw());
    };
    dark.addEventListener("change", setTheme, { signal: this.ending.signal });
    this.scene?.resize();
    setTheme();
    this.scene?.seen.fit();
    knobs.show();
  }

  update(run: Run, past: readonly ReadonlyMap<string, Series>[]): void {
    fill(this.motion, this.model, run);
    this.scopes.forEach((scope) => scope.update(past));
    this.scene?.update();
    this.parts.claims?.show(run);
    this.show();
  }

  /** The series of the run that is shown, to be kept. */
  series(): ReadonlyMap<string, Series> {
    return new Map(this.motion.signals.map(({ name, series }) => [name, { ...series }]));
  }

  goTo(time: number): void {
    seek(this.clock, time);
    this.show();
  }

  frame(seconds: number): void {
    if (this.clock.playing) {
      advance(this.clock, seconds);
      this.show();
    }
    this.scene?.draw(seconds, this.clock.playing);
  }

  /** Another takes its place. */
  end(): void {
    this.ending.abort();
    this.scene?.dispose();
  }

  private show(): void {
    const { time } = this.clock;
    this.scene?.show(time);
    this.scopes.forEach((scope) => scope.show(time));
    this.diagram?.show(time);
    this.others.show(time);
    this.controls.show();
  }
}

/** The signals to be written at the blocks of the drawing: the first few of each. */
function onWires(signals: readonly Signal[]): Signal[] {
  const counts = new Map<string, number>();
  return eachOnce(signals).filter(({ name }) => {
    const block = name.slice(0, Math.max(name.lastIndexOf("."), 0)) || name;
    counts.set(block, (counts.get(block) ?? 0) + 1);
    return counts.get(block)! <= MOST_ON_WIRES;
  });
}

function closed(details: HTMLDetailsElement): HTMLDetailsElement {
  details.open = false;
  return details;
}
