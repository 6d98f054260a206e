// The list from which a block is added by its name.

import { useReactFlow } from "@xyflow/react";

import { useEffect, useMemo, useState } from "react";

import { attempt } from "../actions";
import { Chooser } from "../app/Chooser";
import { Dialog } from "../app/Dialog";
import type { BlockType, Point, Unfit } from "../protocol";
import { type Adding, connection, type Drawing, now, patch, useStudio } from "../store";
import { addableHere, addBlock, addInto, fitting } from "./adding";
import { choiceOf, placeFor } from "./choices";
import { labelPlace, wireKey } from "./geometry";

export function QuickAdd() {
  const adding = useStudio((state) => state.adding);
  return adding && <Open adding={adding} />;
}

function Open({ adding }: { adding: Adding }) {
  const flow = useReactFlow();
  const place: Point = adding.place ?? placeFor(flow);
  const corner = flow.flowToScreenPosition({ x: place[0], y: place[1] });
  const close = (): void => patch({ adding: null, drawing: null });
  const unfit = useUnfit(adding.from);
  const choices = useMemo(
    () => fitting(addableHere(), adding.from).map((type) => ({ ...choiceOf(type), reason: unfit[type.name] })),
    [adding.from, unfit],
  );
  const label = adding.from ? `Add a block wired to ${adding.from.block}.${adding.from.port}` : "Add a block";
  const choose = (type: BlockType): void => {
    close();
    const { sheet, wires } = now();
    const into = adding.from || adding.place ? undefined : sheet?.wires.find((wire) => wires.length === 1 && wireKey(wire) === wires[0]);
    if (into && type.look !== "border") void addInto(type, into, labelPlace(into.points).at);
    else void addBlock(type, place, adding.from);
  };
  return (
    <Dialog name={label} className="quick" at={[corner.x, corner.y]} onClose={close}>
      <Chooser label={label} choices={choices} onChoose={choose} empty="No type of block is called so, here or in other tools." />
    </Dialog>
  );
}

/** The types that cannot be at the other end of a wire, with the reasons. */
function useUnfit(from: Drawing | null): Unfit {
  const [unfit, setUnfit] = useState<Unfit>({});
  useEffect(() => {
    const { opened, sheet } = now();
    if (!from || !opened || !sheet) return;
    const { block, port, output } = from;
    const about = { path: opened.path, at: sheet.at, from: { block, port }, output };
    void attempt(() => connection.ask("unfit", about)).then((found) => found && setUnfit(found));
  }, [from]);
  return unfit;
}
