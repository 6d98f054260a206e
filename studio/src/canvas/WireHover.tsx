// What a wire carries, beside the pointer or beside the selected wire.

import { useReactFlow, useViewport } from "@xyflow/react";
import { lazy, Suspense } from "react";

import type { SheetWire } from "../protocol";
import { useStudio } from "../store";
import { labelPlace, wireKey } from "./geometry";

const WireValue = lazy(() => import("../run/WireValue"));

export function WireHover() {
  const hover = useStudio(({ hover, sheet }) => (hover && sheet?.wires.includes(hover.wire) ? hover : null));
  const selected = useStudio(({ sheet, wires }) => (wires.length === 1 ? sheet?.wires.find((wire) => wireKey(wire) === wires[0]) : undefined));
  if (hover) return <Card x={hover.x} y={hover.y} wire={hover.wire} />;
  return selected && <AtWire wire={selected} />;
}

/** Beside the wire, also while the view moves. */
function AtWire({ wire }: { wire: SheetWire }) {
  const flow = useReactFlow();
  useViewport();
  const { at: [x, y] } = labelPlace(wire.points);
  return <Card {...flow.flowToScreenPosition({ x, y })} wire={wire} />;
}

function Card({ x, y, wire }: { x: number; y: number; wire: SheetWire }) {
  return (
    <Suspense>
      <div className="wire-card" role="tooltip" style={{ left: Math.min(x + 12, innerWidth - 260), top: y + 14 }}>
        <WireValue wire={wire} />
      </div>
    </Suspense>
  );
}
