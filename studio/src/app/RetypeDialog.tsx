import { addable } from "../canvas/adding";
import { choiceOf } from "../canvas/choices";
import { retype } from "../canvas/replacing";
import type { BlockType } from "../protocol";
import { now, patch } from "../store";
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
