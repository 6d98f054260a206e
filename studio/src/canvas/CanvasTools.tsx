// Buttons over the sheet.

import { useReactFlow } from "@xyflow/react";

import { tidy } from "../actions";
import { Tool } from "../app/Header";
import { now, patch } from "../store";
import { fitAll } from "./views";

export function CanvasTools() {
  const flow = useReactFlow();
  return (
    <div className="canvas-tools" role="toolbar" aria-label="Sheet">
      <Tool icon="plus" name="Add a block" keys="Ctrl+K" onClick={() => patch({ adding: { place: null, from: null } })} />
      <Tool icon="fit" name="See the whole" keys="F" onClick={() => fitAll(flow)} />
      <Tool icon="tidy" name="Tidy: put all blocks where the layout has them" onClick={() => void tidy()} />
      <Tool icon="picture" name="Save a picture" onClick={() => void import("./picture").then(({ savePicture }) => savePicture(now()))} />
    </div>
  );
}
