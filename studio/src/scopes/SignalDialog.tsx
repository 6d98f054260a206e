// Which signals a scope shows.

import { useMemo } from "react";

import type { Signal } from "../protocol";
import { useRun, useRunsState } from "../run/book";
import type { Runs } from "../run/runs";
import { titleOf, toggleSignal } from "./edit";
import type { ScopeOf } from "./lines";
import { type Item, PickDialog } from "./PickList";

export function SignalDialog({ runs, scope, onClose }: { runs: Runs; scope: ScopeOf; onClose: () => void }) {
  const run = useRun(runs);
  const shown = useRunsState(runs, (state) => state.scopes.find(({ id }) => id === scope.id)?.signals ?? NONE);
  const items = useMemo(() => itemsOf(run?.signals ?? []), [run?.signals]);
  return (
    <PickDialog name={`Signals of ${titleOf(scope)}`} what="signals" items={items} chosen={shown} onClose={onClose}
      onToggle={(name) => runs.patch({ scopes: toggleSignal(runs.state.scopes, scope.id, name) })} />
  );
}

const NONE: readonly string[] = [];

export function itemsOf(signals: readonly Signal[]): Item[] {
  return signals.map((signal) => ({ name: signal.name, about: aboutOf(signal) }));
}

function aboutOf({ shape, unit, live }: Signal): string {
  const size = shape.length ? shape.join(" × ") : "";
  return [size, unit && `[${unit}]`, live ? "" : "after the run"].filter(Boolean).join(" ");
}
