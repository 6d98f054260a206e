// The list from which a block is added by its name.

import { useReactFlow } from "@xyflow/react";

import { Chooser } from "../app/Chooser";
import { Dialog } from "../app/Dialog";
import type { BlockType, Point } from "../protocol";
import { type Adding, patch, useStudio } from "../store";
import { addable, addBlock, fitting } from "./adding";
import { choiceOf, middleOf } from "./choices";

export function QuickAdd() {
  const adding = useStudio((state) => state.adding);
  return adding && <Open adding={adding} />;
}

function Open({ adding }: { adding: Adding }) {
  const flow = useReactFlow();
  const place: Point = adding.place ?? middleOf(flow);
  const corner = flow.flowToScreenPosition({ x: place[0], y: place[1] });
  const close = (): void => patch({ adding: null, drawing: null });
  const choices = fitting(addable(), adding.from).map(choiceOf);
  const label = adding.from ? `Add a block wired to ${adding.from.block}.${adding.from.port}` : "Add a block";
  const choose = (type: BlockType): void => {
    close();
    void addBlock(type, place, adding.from);
  };
  return (
    <Dialog name={label} className="quick" at={[corner.x, corner.y]} onClose={close}>
      <Chooser label={label} choices={choices} onChoose={choose} empty="No type of block is called so, here or in other tools." />
    </Dialog>
  );
}
