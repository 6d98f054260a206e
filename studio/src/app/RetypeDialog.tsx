import { attempt, edit, notify } from "../actions";
import { addable } from "../canvas/adding";
import { choiceOf } from "../canvas/choices";
import type { BlockType } from "../protocol";
import { connection, now, patch } from "../store";
import { Chooser } from "./Chooser";
import { Dialog } from "./Dialog";

/** Gives the selected block another type. */
export function RetypeDialog() {
  const [name] = now().selection;
  const label = `Another type for ${name}`;
  const close = (): void => patch({ dialog: null });
  const choose = (type: BlockType): void => {
    close();
    if (name !== undefined) void retype(name, type.name);
  };
  return (
    <Dialog name={label} onClose={close}>
      <Chooser label={label} choices={addable().map(choiceOf)} onChoose={choose} />
    </Dialog>
  );
}

/** Give a block another type, and say which of its parameters went with the old one. */
async function retype(name: string, type: string): Promise<void> {
  const within = now().sheet?.within ?? null;
  const before = await written(name);
  if (within === null || !before || !(await edit({ op: "retype", name, type, within }))) return;
  const kept = await written(name);
  const gone = before.filter((one) => !kept?.includes(one));
  if (kept && gone.length) notify(`${name} is ${type} now, without ${gone.join(", ")}, which it does not have`);
}

/** The parameters of a block that the file has. */
function written(block: string): Promise<string[] | null> {
  const { opened, sheet } = now();
  return attempt(async () => {
    const { fields } = await connection.ask("form", { path: opened?.path, at: sheet?.at, block });
    return fields.filter(({ text }) => text !== null).map(({ name }) => name);
  });
}
