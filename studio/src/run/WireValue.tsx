import type { SheetWire } from "../protocol";

/** What a wire carries, shown beside the pointer over it or when it is selected. */
export function WireValue({ wire }: { wire: SheetWire }) {
  return <div className="wire-value">{`${wire.source} → ${wire.target}`}</div>;
}
