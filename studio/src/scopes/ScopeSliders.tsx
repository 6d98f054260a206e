// Sliders beside a scope, of parameters that are pinned to it. They are kept for the file.

import { useMemo } from "react";

import { keep } from "../panels/kept";
import type { Tunable } from "../protocol";
import type { Runs } from "../run/runs";
import { Value } from "../run/TunePanel";
import { useTunables, useTuned } from "../run/tuning";
import { now, useStudio } from "../store";
import { PickDialog } from "./PickList";

type Pinned = Readonly<Record<string, readonly string[]>>;
const NONE: Pinned = {};

function pinnedOf(kept: unknown): Pinned {
  return kept && typeof kept === "object" ? (kept as Pinned) : NONE;
}

export function ScopeSliders({ runs, title, choosing, onClose }: { runs: Runs; title: string; choosing: boolean; onClose: () => void }) {
  const all = useTunables(runs);
  const kept = useStudio((state) => pinnedOf(state.kept["sliders"])[title]);
  const names = Array.isArray(kept) ? (kept as readonly string[]) : [];
  const items = useMemo(() => all.map(({ name, first, unit, used }) => ({ name, used, about: [first, unit].filter(Boolean).join(" ") })), [all]);
  const toggle = (name: string): void => {
    const next = names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
    keep({ sliders: { ...pinnedOf(now().kept["sliders"]), [title]: next } });
  };
  return (
    <>
      {names.length > 0 && (
        <div className="scope-sliders" role="group" aria-label={`Parameters beside ${title}`}>
          {all.filter(({ name }) => names.includes(name)).map((one) => <Pin key={one.name} runs={runs} tunable={one} onRemove={() => toggle(one.name)} />)}
        </div>
      )}
      {choosing && <PickDialog name={`Sliders beside ${title}`} what="parameters" items={items} chosen={names} onToggle={toggle} onClose={onClose} />}
    </>
  );
}

function Pin({ runs, tunable, onRemove }: { runs: Runs; tunable: Tunable; onRemove: () => void }) {
  const { name, first, unit, doc } = tunable;
  const [text, set] = useTuned(runs, tunable);
  return (
    <div className={text === first ? "scope-slider" : "scope-slider changed"}>
      <span title={doc}>{`${name}${unit && ` [${unit}]`}`}</span>
      <Value name={name} first={first} text={text} set={set} />
      <button type="button" aria-label={`Remove the slider of ${name}`} title="Remove the slider" onClick={onRemove}>×</button>
    </div>
  );
}
