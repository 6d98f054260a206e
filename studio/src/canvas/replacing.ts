// Blocks that get another type: what stays of them, and what does not.

import { attempt, edit, notify } from "../actions";
import type { SheetWire } from "../protocol";
import { connection, now } from "../store";
import { editable } from "./looks";

/** Give a block another type, and say which of its parameters went with the old one, and which wires do not
 * fit any more. */
export async function retype(name: string, type: string): Promise<void> {
  const { sheet } = now();
  const within = sheet && editable();
  const block = sheet?.blocks.find((one) => one.name === name);
  if (!block || within === null || block.type === type) return;
  const before = await written(name);
  if (!before || !(await edit({ op: "retype", name, type, within }))) return;
  const kept = await written(name);
  const gone = before.filter((one) => !kept?.includes(one));
  const wrong = (now().sheet?.wires ?? []).filter((wire) => isAt(wire, name) && wire.problems.length > 0);
  const told = [
    gone.length ? `without ${gone.join(", ")}, which it does not have` : "",
    wrong.length ? `${wrong.map(({ source, target }) => `${source} -> ${target}`).join(", ")} ${wrong.length > 1 ? "do" : "does"} not fit it` : "",
  ].filter(Boolean);
  if (kept && told.length) notify(`${name} is ${type} now, ${told.join("; ")}`);
}

function isAt({ from, to }: SheetWire, name: string): boolean {
  return from.block === name || to.block === name;
}

/** The parameters of a block that the file has. */
function written(block: string): Promise<string[] | null> {
  const { opened, sheet } = now();
  return attempt(async () => {
    const { fields } = await connection.ask("form", { path: opened?.path, at: sheet?.at, block });
    return fields.filter(({ text }) => text !== null).map(({ name }) => name);
  });
}
