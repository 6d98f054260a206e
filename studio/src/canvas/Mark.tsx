import type { SheetBlock } from "../protocol";

// What class a block is of, told by a shape and not by colour alone.
const MARKS: Record<SheetBlock["look"], string> = {
  source: "M2 6h6M6 3.5L9 6 6 8.5",
  sink: "M3 2v8M9 6H4M6 3.5L3.5 6 6 8.5",
  function: "M8.5 2.5C6 1.5 6.5 6 6 6s0 4.5-2.5 3.5M3.5 6h5",
  continuous: "M1.5 8C4 8 3.5 3.5 6 3.5S8 8 10.5 8",
  sampled: "M1.5 9.5V6.5h3v-3h3v3h3",
  subsystem: "M2 2.5h8v7H2zM4 5h4v2.5H4z",
  border: "M2 3h5l3 3-3 3H2z",
  variant: "M2 6h3l3-3h2M5 6l3 3h2",
};

export function Mark({ look }: { look: SheetBlock["look"] }) {
  return (
    <svg className="mark" viewBox="0 0 12 12" aria-hidden="true">
      <path d={MARKS[look]} />
    </svg>
  );
}
