// Beside a field of a form that can be changed while a run goes on.

import { lazy, Suspense } from "react";

import type { Field } from "../protocol";
import { useRun, useRuns } from "./book";
import { isOver, type Runs } from "./runs";

const LiveTuner = lazy(async () => ({ default: (await import("./LiveTuner")).LiveTuner }));

export function FieldTuner({ field }: { field: Field }) {
  const runs = useRuns();
  return runs && field.tunable !== null ? <WhileItRuns runs={runs} name={field.tunable} /> : null;
}

function WhileItRuns({ runs, name }: { runs: Runs; name: string }) {
  const run = useRun(runs);
  return run && !isOver(run) ? <Suspense><LiveTuner runs={runs} name={name} /></Suspense> : null;
}
