// What is shown of runs under the diagram: scopes, 3-D, tuning, the runs themselves, and loops.

import { type ComponentType, type KeyboardEvent, lazy, Suspense, useEffect, useState } from "react";

import { Edge } from "../app/Edge";
import { type Panel, patch, useStudio } from "../store";
import { useRun, useRuns } from "./book";
import "./panel.css";
import type { Runs } from "./runs";

// Each is loaded when it is first shown: a diagram can be looked at before.
const TABS: Record<Panel, { name: string; Panel: ComponentType<{ runs: Runs }> }> = {
  scopes: { name: "Scopes", Panel: lazy(async () => ({ default: (await import("../scopes/ScopesPanel")).ScopesPanel })) },
  motion: { name: "3-D", Panel: lazy(async () => ({ default: (await import("../motion/MotionPanel")).MotionPanel })) },
  tune: { name: "Tune", Panel: lazy(async () => ({ default: (await import("./TunePanel")).TunePanel })) },
  debug: { name: "Debug", Panel: lazy(async () => ({ default: (await import("./DebugPanel")).DebugPanel })) },
  tests: { name: "Tests", Panel: lazy(async () => ({ default: (await import("../claims/TestsPanel")).TestsPanel })) },
  runs: { name: "Runs", Panel: lazy(async () => ({ default: (await import("./RunsPanel")).RunsPanel })) },
  jobs: { name: "Jobs", Panel: lazy(async () => ({ default: (await import("../jobs/JobsPanel")).JobsPanel })) },
  changes: { name: "Changes", Panel: lazy(async () => ({ default: (await import("../changes/ChangesPanel")).ChangesPanel })) },
  loops: { name: "Loops", Panel: lazy(async () => ({ default: (await import("./LoopsPanel")).LoopsPanel })) },
};

export function BottomPanel() {
  const runs = useRuns();
  return runs && <Results runs={runs} />;
}

function Results({ runs }: { runs: Runs }) {
  const tab = useStudio((state) => state.panel);
  const [chosen, setOpen] = useState<boolean | null>(null);
  const [last, setLast] = useState(tab);
  if (tab !== last) {
    setLast(tab);
    setOpen(true); // something asks for it
  }
  const run = useRun(runs);
  const breaking = useStudio((state) => state.breaking !== null);
  useEffect(() => void (breaking && setOpen(true)), [breaking]);
  const open = chosen ?? run !== undefined; // before there is anything to show, the diagram has the room
  return (
    <section className={open ? "bottom-panel open" : "bottom-panel"} aria-label="Results">
      {open && <Edge name="Height of the results" of="panel-height" first={300} way="up" />}
      <div className="panel-head">
        <Tabs tab={tab} open={open} onChoose={(next) => (patch({ panel: next }), setOpen(true))} />
        <button type="button" className="panel-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide" : "Show"}
        </button>
      </div>
      {open && (
        <div className="panel-body" role="tabpanel" id="panel-body" aria-labelledby={`tab-${tab}`}>
          <Shown key={runs.path} tab={tab} runs={runs} />
        </div>
      )}
    </section>
  );
}

function Shown({ tab, runs }: { tab: Panel; runs: Runs }) {
  const none = useRun(runs) === undefined;
  if (tab === "scopes" && none) return <p className="panel-empty">Scopes show what a run records: Ctrl+Enter runs the diagram.</p>;
  const { Panel } = TABS[tab];
  return (
    <Suspense fallback={<p className="panel-empty">Loading…</p>}>
      <Panel runs={runs} />
    </Suspense>
  );
}

function Tabs({ tab, open, onChoose }: { tab: Panel; open: boolean; onChoose: (tab: Panel) => void }) {
  const all = Object.keys(TABS) as Panel[];
  const press = (event: KeyboardEvent<HTMLElement>): void => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (way === 0) return;
    const next = all[(all.indexOf(tab) + way + all.length) % all.length]!;
    onChoose(next);
    document.getElementById(`tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <div className="tabs" role="tablist" aria-label="Results" onKeyDown={press}>
      {all.map((one) => (
        <button key={one} type="button" role="tab" id={`tab-${one}`} aria-selected={one === tab}
          aria-controls={open ? "panel-body" : undefined}
          tabIndex={one === tab ? 0 : -1} onClick={() => onChoose(one)}>
          {TABS[one].name}
        </button>
      ))}
    </div>
  );
}
