// Beside a field of a form that can be changed while a run goes on.

import type { Field } from "../protocol";
import { useRun, useRuns } from "./book";
import { isOver, type Runs } from "./runs";
import { useTunables, useTuned } from "./tuning";
import { Value } from "./TunePanel";

export function FieldTuner({ field }: { field: Field }) {
  const runs = useRuns();
  return runs && field.tunable !== null ? <Tuner runs={runs} name={field.tunable} /> : null;
}

function Tuner({ runs, name }: { runs: Runs; name: string }) {
  const run = useRun(runs);
  const tunable = useTunables(runs).find((one) => one.name === name || one.used.includes(name));
  return run && !isOver(run) && tunable ? <Live runs={runs} tunable={tunable} /> : null;
}

function Live({ runs, tunable }: { runs: Runs; tunable: Parameters<typeof useTuned>[1] & { first: string } }) {
  const [text, set] = useTuned(runs, tunable);
  const changed = text !== tunable.first;
  return (
    <span className="field-tuner">
      <span className="note">{changed ? "● in this run" : "in this run"}</span>
      <Value name={`${tunable.name} in this run`} first={tunable.first} text={text} set={set} />
    </span>
  );
}
