// The sliders beside a field, loaded with the first run that is looked at.

import type { Tunable } from "../protocol";
import type { Runs } from "./runs";
import { useTunables, useTuned } from "./tuning";
import { Value } from "./TunePanel";

export function LiveTuner({ runs, name }: { runs: Runs; name: string }) {
  const tunable = useTunables(runs).find((one) => one.name === name || one.used.includes(name));
  return tunable ? <Live runs={runs} tunable={tunable} /> : null;
}

function Live({ runs, tunable }: { runs: Runs; tunable: Tunable }) {
  const [text, set] = useTuned(runs, tunable);
  const changed = text !== tunable.first;
  return (
    <span className="field-tuner">
      <span className="note">{changed ? "● in this run" : "in this run"}</span>
      <Value name={`${tunable.name} in this run`} first={tunable.first} text={text} set={set} bounds={tunable} />
    </span>
  );
}
