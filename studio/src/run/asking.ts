// Asks for the condition of a breakpoint, of what is selected on the sheet.

import { wireKey } from "../canvas/geometry";
import { showPanel } from "../panels/kept";
import type { Chart } from "../protocol";
import { now, patch, pathOf } from "../store";
import { spelled } from "./spelled";

/** Where the selected wire or block shall pause runs is asked for in the panel. */
export function askForBreakpoint(): void {
  const { sheet, wires, selection } = now();
  const entered = sheet?.chart && whenEntered(sheet.chart, selection[0]);
  if (entered) return void import("./breakpoints").then(({ toggleBreakpoint }) => toggleBreakpoint(entered));
  const wire = sheet?.wires.find((one) => wires.length === 1 && wireKey(one) === wires[0]);
  const name = sheet?.chart?.block ?? (selection.length === 1 ? pathOf(sheet?.at ?? "", selection[0]!) : "");
  const block = name && `event(${spelled(name)})`;
  void showPanel("debug");
  patch({ breaking: wire?.signal ? `${spelled(wire.signal)} > ` : block });
}

/** The condition that the state of a chart at a path is active; undefined without one. */
export function whenEntered({ states, regions, block }: Chart, path: string | undefined): string | undefined {
  const state = states.find((one) => one.path === path);
  const region = regions.find((one) => one.path === state?.region);
  return state && region && `${spelled(`${block}.${region.port}`)} == '${state.name}'`;
}
