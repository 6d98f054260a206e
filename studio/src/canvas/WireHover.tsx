// What a wire carries, beside the pointer or beside the selected wire.

import { useReactFlow, useViewport } from "@xyflow/react";

import type { SheetWire } from "../protocol";
import { WireValue } from "../run/WireValue";
import { useStudio } from "../store";
import { labelPlace, wireKey } from "./geometry";

export function WireHover() {
  const hover = useStudio(({ hover, sheet }) => (hover && sheet?.wires.includes(hover.wire) ? hover : null));
  const selected = useStudio(({ sheet, wires }) => (wires.length === 1 ? sheet?.wires.find((wire) => wireKey(wire) === wires[0]) : undefined));
  if (hover) return <Card x={hover.x} y={hover.y}><WireValue wire={hover.wire} /></Card>;
  return selected && <AtWire wire={selected} />;
}

/** Beside the wire, also while the view moves. */
function AtWire({ wire }: { wire: SheetWire }) {
  const flow = useReactFlow();
  useViewport();
  const { at: [x, y] } = labelPlace(wire.points);
  return <Card {...flow.flowToScreenPosition({ x, y })}><WireValue wire={wire} /></Card>;
}

function Card({ x, y, children }: { x: number; y: number; children: React.ReactNode }) {
  return (
    <div className="wire-card" role="tooltip" style={{ left: Math.min(x + 12, innerWidth - 260), top: y + 14 }}>
      {children}
    </div>
  );
}
