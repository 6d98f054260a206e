import { patch } from "../store";
import { Tool } from "./Header";
import { Dialog } from "./Dialog";
import { allCommands } from "./keys";

const SHOWN: Record<string, string> = {
  ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", Delete: "Del",
};

const OTHERS = [
  ["Tab", "next control or block; Shift: the one before"],
  ["F4, Alt+Enter in a field", "its value in a window"],
  ["drag on the sheet", "select the blocks in a box"],
  ["middle or right button, drag", "pan"],
  ["wheel", "zoom"],
  ["right click, long touch", "the commands for what is there"],
  ["drag a block without wires onto a wire", "insert it; a block from the list too"],
  ["drag from the list onto a block", "replace the block"],
  ["double click on the sheet", "add a block there"],
  ["double click on a block", "open a subsystem"],
  ["drag from port to port", "wire; on the empty sheet: add a block with the wire"],
] as const;

/** All keys, as the parts of the page have given them. */
export function Help() {
  const close = (): void => patch({ dialog: null });
  return (
    <Dialog name="Keys" className="help" onClose={close}>
      <div className="dialog-head"><h2>Keys</h2><Tool icon="close" name="Close" onClick={close} /></div>
      <div className="help-groups">
        {allCommands().map(([group, commands]) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <dl>{commands.filter(({ keys }) => keys.length).map(({ keys, what }) => <Row key={what} keys={keys} what={what} />)}</dl>
          </section>
        ))}
        <section aria-label="Mouse and focus">
          <h3>Mouse and focus</h3>
          <dl>{OTHERS.map(([how, what]) => <div key={how}><dt>{how}</dt><dd>{what}</dd></div>)}</dl>
        </section>
      </div>
    </Dialog>
  );
}

function Row({ keys, what }: { keys: readonly string[]; what: string }) {
  return (
    <div>
      <dt>{keys.map((key) => <kbd key={key}>{key.split("+").map((part) => SHOWN[part] ?? part).join("+")}</kbd>)}</dt>
      <dd>{what}</dd>
    </div>
  );
}
