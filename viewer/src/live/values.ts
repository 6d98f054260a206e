// The values that a reader chooses: from the file, from sliders, from the address of the page.

import type { Model, Parameter } from "./data";

/** One number of a parameter that can be moved. */
export interface Knob {
  parameter: Parameter;
  /** kp, or qm[2] of a vector. */
  name: string;
  label: string;
  /** The entries of p that have this value. */
  places: number[];
  first: number;
  min: number;
  max: number;
}

const MOST_ELEMENTS = 12;

/** The knobs of a parameter: one for each of its numbers; none if it has too many. */
export function knobsOf(parameter: Parameter, p: readonly number[]): Knob[] {
  const count = parameter.places[0]?.length ?? 0;
  if (count > MOST_ELEMENTS) {
    return [];
  }
  return Array.from({ length: count }, (_, k) => {
    const places = parameter.places.map((one) => one[k]!);
    const first = p[places[0]!]!;
    const name = count > 1 ? `${parameter.name}[${indexOf(k, parameter.shape)}]` : parameter.name;
    return { parameter, name, label: parameter.labels[k] ?? name, places, first, ...rangeOf(parameter, first) };
  });
}

function indexOf(k: number, shape: readonly number[]): string {
  const found: number[] = [];
  let rest = k;
  for (const size of [...shape].reverse()) {
    found.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return found.join(",");
}

/** The range of a slider: the declared one, or from nothing to twice the value. */
function rangeOf({ min, max, start }: Parameter, first: number): { min: number; max: number } {
  const size = Math.abs(first) || 1;
  const symmetric = start || first === 0;
  const low = min ?? (symmetric ? first - size : first < 0 ? 2 * first : 0);
  const high = max ?? (symmetric ? first + size : first < 0 ? 0 : 2 * first);
  return { min: Math.min(low, first), max: Math.max(high, first) };
}

/** The values of all knobs as they are now. */
export class Values {
  readonly knobs: Knob[];
  readonly p: Float64Array;

  constructor(model: Model) {
    this.p = Float64Array.from(model.p);
    this.knobs = model.parameters.flatMap((one) => knobsOf(one, model.p));
  }

  of(knob: Knob): number {
    return this.p[knob.places[0]!]!;
  }

  /** Set a value, or the bound that is next to it. */
  set(knob: Knob, value: number): void {
    const { min, max } = knob.parameter;
    const allowed = Math.min(Math.max(value, min ?? -Infinity), max ?? Infinity);
    knob.places.forEach((place) => (this.p[place] = allowed));
  }

  reset(): void {
    this.knobs.forEach((knob) => this.set(knob, knob.first));
  }

  get changed(): Knob[] {
    return this.knobs.filter((knob) => !Object.is(this.of(knob), knob.first));
  }

  /** The changed values as the end of an address: kp=40&qm[2]=0.1. */
  text(): string {
    return this.changed.map((knob) => `${encodeURIComponent(knob.name)}=${this.of(knob)}`).join("&");
  }

  /** Take values from such a text; what it does not know is left. */
  take(text: string): void {
    const known = new Map(this.knobs.map((knob) => [knob.name, knob]));
    for (const pair of text.replace(/^#/, "").split("&")) {
      const [name = "", value = ""] = pair.split("=", 2);
      const knob = known.get(decoded(name));
      const number = Number(value);
      if (knob && value !== "" && Number.isFinite(number)) {
        this.set(knob, number);
      }
    }
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
