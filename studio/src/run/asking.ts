// Asks for the condition of a breakpoint, of what is selected on the sheet.

import { wireKey } from "../canvas/geometry";
import { now, patch, pathOf } from "../store";
import { spelled } from "./spelled";

/** Where the selected wire or block shall pause runs is asked for in the panel. */
export function askForBreakpoint(): void {
  const { sheet, wires, selection } = now();
  const wire = sheet?.wires.find((one) => wires.length === 1 && wireKey(one) === wires[0]);
  const block = selection.length === 1 ? `event(${spelled(pathOf(sheet?.at ?? "", selection[0]!))})` : "";
  patch({ panel: "debug", breaking: wire?.signal ? `${spelled(wire.signal)} > ` : block });
}
