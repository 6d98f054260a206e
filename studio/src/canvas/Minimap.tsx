// The whole sheet in a corner, with what is seen of it. Blocks are painted once for each sheet, on a canvas.

import { useReactFlow, useStore } from "@xyflow/react";
import { type PointerEvent, useEffect, useMemo, useRef } from "react";

import { useDark } from "../scopes/dark";
import { useStudio } from "../store";
import { areaBoxes } from "./annotations";
import { boundsOf } from "./geometry";

const [WIDE, HIGH, MARGIN] = [190, 130, 6];

export function Minimap() {
  const flow = useReactFlow();
  const sheet = useStudio((state) => state.sheet);
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useDark();
  const frame = useMemo(() => {
    const box = (sheet && boundsOf([...sheet.blocks, ...areaBoxes(sheet)])) ?? { x: 0, y: 0, width: 1, height: 1 };
    const scale = Math.min((WIDE - 2 * MARGIN) / box.width, (HIGH - 2 * MARGIN) / box.height, 0.3);
    return { scale, x: (WIDE - scale * box.width) / 2 - scale * box.x, y: (HIGH - scale * box.height) / 2 - scale * box.y };
  }, [sheet]);
  useEffect(() => {
    const brush = canvas.current?.getContext("2d");
    if (!brush || !canvas.current || !sheet) return;
    const { scale, x, y } = frame;
    const style = getComputedStyle(canvas.current);
    brush.setTransform(2, 0, 0, 2, 0, 0);
    brush.clearRect(0, 0, WIDE, HIGH);
    for (const area of areaBoxes(sheet)) {
      brush.fillStyle = style.getPropertyValue(`--${area.colour}`);
      brush.fillRect(x + scale * area.x, y + scale * area.y, scale * area.width, scale * area.height);
    }
    brush.fillStyle = style.getPropertyValue("--muted");
    for (const block of sheet.blocks) {
      brush.fillRect(x + scale * block.x, y + scale * block.y, Math.max(1, scale * block.width), Math.max(1, scale * block.height));
    }
  }, [sheet, frame, dark]);
  const goTo = (event: PointerEvent<HTMLElement>): void => {
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    else if (event.buttons === 0) return;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const { zoom } = flow.getViewport();
    void flow.setCenter((event.clientX - left - frame.x) / frame.scale, (event.clientY - top - frame.y) / frame.scale, { zoom });
  };
  return (
    <div className="minimap" role="img" aria-label="The whole sheet" onPointerDown={goTo} onPointerMove={goTo}>
      <canvas ref={canvas} width={2 * WIDE} height={2 * HIGH} style={{ width: WIDE, height: HIGH }} />
      <Seen frame={frame} />
    </div>
  );
}

function Seen({ frame: { scale, x, y } }: { frame: { scale: number; x: number; y: number } }) {
  const box = useStore(({ transform: [tx, ty, zoom], width, height }) =>
    [x - scale * tx / zoom, y - scale * ty / zoom, scale * width / zoom, scale * height / zoom].map((one) => Math.round(one * 2) / 2).join(" "));
  const [left, top, width, height] = box.split(" ").map(Number);
  return <span className="seen" style={{ left, top, width, height }} />;
}
