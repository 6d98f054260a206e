import { COLOURS, colourSelected } from "../canvas/looks";
import type { Colour } from "../protocol";
import { patch } from "../store";
import { Chooser, type Choice } from "./Chooser";
import { Dialog } from "./Dialog";

const NONE: Choice<Colour | null> = { key: "none", thing: null, name: "as its class", note: "the colour that blocks of this kind have" };

/** Gives the selected blocks and areas a colour. */
export function ColourDialog() {
  const close = (): void => patch({ dialog: null });
  const choices = COLOURS.map((colour): Choice<Colour | null> => ({
    key: colour, thing: colour, name: colour, note: <span className={`swatch tint-${colour}`} />,
  }));
  return (
    <Dialog name="Colour" className="quick" onClose={close}>
      <Chooser label="Colour" choices={[...choices, NONE]} onChoose={(colour) => { close(); void colourSelected(colour); }} />
    </Dialog>
  );
}
