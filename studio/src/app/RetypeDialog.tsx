import { edit } from "../actions";
import { addable } from "../canvas/adding";
import { choiceOf } from "../canvas/choices";
import type { BlockType } from "../protocol";
import { now, patch } from "../store";
import { Chooser } from "./Chooser";
import { Dialog } from "./Dialog";

/** Gives the selected block another type. */
export function RetypeDialog() {
  const { selection: [name], sheet } = now();
  const label = `Another type for ${name}`;
  const close = (): void => patch({ dialog: null });
  const choose = (type: BlockType): void => {
    close();
    if (name && sheet && sheet.within !== null) void edit({ op: "retype", name, type: type.name, within: sheet.within });
  };
  return (
    <Dialog name={label} onClose={close}>
      <Chooser label={label} choices={addable().map(choiceOf)} onChoose={choose} />
    </Dialog>
  );
}
