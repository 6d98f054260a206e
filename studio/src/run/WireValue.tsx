// What a wire carries at the time that is shown: beside the pointer over it, or when it is selected.

import type { SheetWire } from "../protocol";
import { BusTree } from "../canvas/BusTree";
import { useRuns } from "./book";
import { useWireValue } from "./values";

export default function WireValue({ wire }: { wire: SheetWire }) {
  const value = useWireValue(wire.signal);
  const runs = useRuns();
  return (
    <dl className="wire-value">
      <dt>{`${wire.source} → ${wire.target}`}</dt>
      {wire.bus.length > 0 ? <BusTree signals={wire.bus} /> : value ? (
        <>
          <dd className="wire-number">{[value.text, value.unit].filter(Boolean).join(" ")}</dd>
          <dd>{[value.shape, value.rate].filter(Boolean).join(", ")}</dd>
        </>
      ) : (
        <dd>{runs?.run ? "its value is not kept" : "run the diagram to see its value"}</dd>
      )}
    </dl>
  );
}
