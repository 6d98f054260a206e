// The sliders: one for each number that may be moved, in groups; each also takes a typed number.

import { make } from "../dom";
import type { Parameter } from "./data";
import type { Knob, Values } from "./values";

const MOST_OPEN = 12;

export class ParameterPanel {
  readonly element = make("div", { class: "knobs" });
  private readonly rows: { knob: Knob; slider: HTMLInputElement; field: HTMLInputElement; row: HTMLElement }[] = [];

  /** changed: is told of each move. */
  constructor(private readonly values: Values, private readonly changed: () => void) {
    const own = values.knobs.filter(({ parameter }) => !parameter.start);
    const starts = values.knobs.filter(({ parameter }) => parameter.start);
    this.group("", own.slice(0, MOST_OPEN), true);
    this.group("More parameters", own.slice(MOST_OPEN), false);
    this.group("Initial states", starts, own.length === 0);
  }

  /** Show the values as they are. */
  show(): void {
    for (const { knob, slider, field, row } of this.rows) {
      const value = this.values.of(knob);
      slider.value = String(value);
      if (document.activeElement !== field) {
        field.value = textOf(value);
        complain(field, "");
      }
      row.classList.toggle("moved", !Object.is(value, knob.first));
    }
  }

  private group(title: string, knobs: readonly Knob[], open: boolean): void {
    if (!knobs.length) {
      return;
    }
    const rows = knobs.map((knob) => this.row(knob));
    if (!title) {
      this.element.append(...rows);
      return;
    }
    const details = make("details", open ? { open: true } : {}, make("summary", {}, title), ...rows);
    this.element.append(details);
  }

  private row(knob: Knob): HTMLElement {
    const { parameter, min, max } = knob;
    const unit = parameter.unit ? ` [${parameter.unit}]` : "";
    const name = knob.label === knob.name ? knob.name : `${parameter.name} ${knob.label}`;
    const slider = make("input", { type: "range", min, max, step: "any", "aria-label": `${name}${unit}` });
    const field = make("input", { type: "text", inputmode: "decimal", "aria-label": `${name} as a number`, spellcheck: "false" });
    slider.addEventListener("input", () => this.move(knob, rounded(slider.valueAsNumber, max - min)));
    slider.addEventListener("dblclick", () => this.move(knob, knob.first));
    field.addEventListener("change", () => {
      const value = Number(field.value.replace(",", ".").replace("−", "-"));
      const { min: least, max: most } = parameter;
      const valid = field.value.trim() !== "" && Number.isFinite(value) && value >= (least ?? -Infinity) && value <= (most ?? Infinity);
      complain(field, valid ? "" : wanted(parameter));
      if (valid) {
        this.move(knob, value);
      }
    });
    const label = make("span", { class: "name", title: parameter.doc || name }, name, make("small", {}, unit));
    const row = make("div", { class: "knob" }, label, slider, field);
    this.rows.push({ knob, slider, field, row });
    return row;
  }

  private move(knob: Knob, value: number): void {
    this.values.set(knob, value);
    this.show();
    this.changed();
  }
}

/** What a field takes. */
function wanted({ min, max }: Parameter): string {
  const bounds = [min === null ? "" : `at least ${min}`, max === null ? "" : `at most ${max}`].filter(Boolean);
  return ["a number", bounds.join(" and ")].filter(Boolean).join(", ");
}

/** Say what is wrong with a field; "" for nothing. */
function complain(field: HTMLInputElement, text: string): void {
  field.setAttribute("aria-invalid", String(text !== ""));
  field.setCustomValidity(text);
  if (text) {
    field.reportValidity();
  }
}

/** A slider's value with as many digits as its travel can tell. */
function rounded(value: number, span: number): number {
  const step = 10 ** Math.floor(Math.log10(span / 1000 || 1));
  return Number((Math.round(value / step) * step).toPrecision(12));
}

function textOf(value: number): string {
  return String(Number(value.toPrecision(7)));
}
