// What is typed into the form of a job, and the options that a request has from it.

import type { JobOption } from "../protocol";

export type Typed = Readonly<Record<string, readonly string[] | string | boolean>>;
export type Options = Record<string, string | string[] | true>;

/** The options that come first in a form; the others are folded away. */
const FIRST: Record<string, readonly string[]> = {
  sweep: ["over", "runs", "metric", "variant"],
  fit: ["parameter", "loss", "starts"],
  tune: ["parameter", "minimize", "constraint", "claim"],
  optimize: ["control", "minimize", "t", "end"],
  compare: ["variant", "case", "set", "t"],
  c: ["part", "rate", "verify"],
  fmu: ["part", "version", "verify"],
  linear: ["input", "output", "open"],
  lqr: ["plant", "Q", "R"],
  motion: ["t"],
  results: ["t"],
};

/** The options of a kind of job: those that come first, and the others. */
export function parted(kind: string, options: readonly JobOption[]): [first: JobOption[], others: JobOption[]] {
  const first = (FIRST[kind] ?? []).flatMap((name) => options.find((one) => one.name === name) ?? []);
  return [first, options.filter((one) => !first.includes(one))];
}

/** Whether the value of an option is a name and a text, "PATH=VALUE". */
export function isPair({ value }: JobOption): boolean {
  return /^\w+=/.test(value);
}

/** The two sides of "kp=[1, 2]"; a formula may have more signs "=". */
export function sidesOf(text: string): [name: string, value: string] {
  const cut = text.indexOf("=");
  return cut < 0 ? [text, ""] : [text.slice(0, cut), text.slice(cut + 1)];
}

/** The options of a request; what is empty is left out. */
export function optionsOf(options: readonly JobOption[], typed: Typed): Options {
  const found: Options = {};
  for (const { name } of options) {
    const value = typed[name];
    if (value === true) found[name] = true;
    else if (typeof value === "string" && value.trim()) found[name] = value.trim();
    else if (Array.isArray(value)) {
      const lines = (value as readonly string[]).map((line) => line.trim()).filter((line) => line !== "" && line !== "=");
      if (lines.length) found[name] = lines;
    }
  }
  return found;
}

/** What an option is called in the form. */
export function labelOf({ name, value }: JobOption): string {
  return NAMES[name] ?? (name.length === 1 ? value.toLowerCase() : name);
}

const NAMES: Record<string, string> = {
  t: "end time [s]", set: "values in place of the file's", over: "what varies", runs: "draws", metric: "metrics", variant: "variants", case: "cases",
};
