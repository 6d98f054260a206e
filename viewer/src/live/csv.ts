// A run as a table of text, and as a file.

import { make } from "../dom";
import type { Motion } from "../recording";
import { eachOnce } from "./motion";

/** The shown signals of a motion: a line of names, then one for each row. Names with commas or
 * quotes are quoted; one that a spreadsheet would take for a formula begins with a quote mark. */
export function csvOf(motion: Motion): string {
  const signals = eachOnce(motion.signals);
  const names = signals.flatMap(({ name, series }) =>
    series.columns === 1 ? [name] : Array.from({ length: series.columns }, (_, k) => `${name}[${k}]`),
  );
  const t = signals[0]?.series.t ?? new Float64Array(0);
  const lines = [["t", ...names].map(cell).join(",")];
  t.forEach((time, row) => {
    const values = signals.flatMap(({ series: { columns, values: all } }) =>
      Array.from({ length: columns }, (_, k) => all[row * columns + k]!),
    );
    lines.push([time, ...values].join(","));
  });
  return `${lines.join("\n")}\n`;
}

function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Offer a text as a file. */
export function save(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
