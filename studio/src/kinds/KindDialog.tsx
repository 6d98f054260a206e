import { Dialog } from "../app/Dialog";
import { Tool } from "../app/Header";
import { now, patch } from "../store";
import KindsForm from "./KindsForm";

/** The kind of the selected subsystem, or of the one that the sheet shows. */
export function KindDialog() {
  const { selection, sheet } = now();
  const chosen = sheet?.blocks.find(({ name, opens }) => opens !== null && selection[0] === name)?.name ?? "";
  const close = (): void => patch({ dialog: null });
  return (
    <Dialog name="Kind of subsystem" className="form" onClose={close}>
      <div className="dialog-head"><h2>{chosen || sheet?.within}</h2><Tool icon="close" name="Close" onClick={close} /></div>
      <KindsForm block={chosen} />
    </Dialog>
  );
}
