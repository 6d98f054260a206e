// The keys of jobs and of changes.

import { choose } from "../actions";
import type { Command } from "../app/keys";
import { now, patch } from "../store";

const COMMANDS: Command[] = [
  { keys: ["Shift+E"], what: "export: C, FMU, pictures, results", run: () => patch({ dialog: "export" }) },
  { keys: ["Shift+S"], what: "sweep: many runs", run: () => patch({ dialog: "sweep" }) },
  { keys: ["Shift+M"], what: "fit parameters to measurements", run: () => patch({ dialog: "fit" }) },
  { keys: ["Shift+T"], what: "tune the parameters of a design", run: () => patch({ dialog: "tune" }) },
  { keys: ["Shift+O"], what: "find controls that make a metric least", run: () => patch({ dialog: "optimize" }) },
  { keys: ["Shift+C"], what: "compare variants, cases or files", run: () => patch({ dialog: "compare" }) },
  { keys: ["Shift+D"], what: "what has changed since a commit", run: () => patch({ panel: "changes" }) },
];

/** Make a slot of variants of the selected block, or show the next choice of one. */
async function vary(): Promise<void> {
  const { opened, sheet, selection: [name] } = now();
  const block = sheet?.at === "" ? sheet.blocks.find((one) => one.name === name) : undefined;
  if (!block) return;
  const slot = opened?.variants.find((one) => one.slot === name);
  if (!slot) {
    const { firstChoice, makeSlot } = await import("../forms/VariantForm");
    return makeSlot(block.name, firstChoice(block.type));
  }
  const next = slot.choices[(slot.choices.indexOf(slot.chosen) + 1) % slot.choices.length];
  if (next !== undefined) await choose(slot.slot, next);
}

/** What `useCommands` takes. */
export const JOB_COMMANDS: [string, Command[]][] = [["The whole diagram", COMMANDS], ["Variants", [
  { keys: ["Shift+V"], what: "variants of the block: make them, show the next", run: vary },
]]];
