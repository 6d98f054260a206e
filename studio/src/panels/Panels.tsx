// Panels beside the diagram: scopes, 3-D, dashboard, tuning, tests, runs and loops, in groups of tabs.

import { type ComponentType, Fragment, type KeyboardEvent, lazy, type PointerEvent, Suspense, useEffect, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";

import { Edge } from "../app/Edge";
import { Tool } from "../app/Header";
import { useCommands } from "../app/keys";
import { useRun, useRuns } from "../run/book";
import type { Runs } from "../run/runs";
import { now, type Panel, patch, useStudio } from "../store";
import { COMMANDS } from "./commands";
import { hostOf } from "./hosts";
import { setLayout, showPanel } from "./kept";
import { type Group, groupsOf, type Side, SIDES } from "./layout";
import { NAMES } from "./names";
import "./panels.css";

// Each is loaded when it is first shown: a diagram can be looked at before.
const PANELS: Record<Panel, ComponentType<{ runs: Runs }>> = {
  scopes: lazy(async () => ({ default: (await import("../scopes/ScopesPanel")).ScopesPanel })),
  motion: lazy(async () => ({ default: (await import("../motion/MotionPanel")).MotionPanel })),
  dashboard: lazy(async () => ({ default: (await import("../dashboard/DashboardPanel")).DashboardPanel })),
  tune: lazy(async () => ({ default: (await import("../run/TunePanel")).TunePanel })),
  debug: lazy(async () => ({ default: (await import("../run/DebugPanel")).DebugPanel })),
  tests: lazy(async () => ({ default: (await import("../claims/TestsPanel")).TestsPanel })),
  runs: lazy(async () => ({ default: (await import("../run/RunsPanel")).RunsPanel })),
  jobs: lazy(async () => ({ default: (await import("../jobs/JobsPanel")).JobsPanel })),
  changes: lazy(async () => ({ default: (await import("../changes/ChangesPanel")).ChangesPanel })),
  loops: lazy(async () => ({ default: (await import("../run/LoopsPanel")).LoopsPanel })),
};

/** What is drawn in each panel that is shown, wherever that is. */
export function Contents() {
  const runs = useRuns();
  const panel = useStudio((state) => state.panel);
  const before = useRef(panel);
  useCommands(COMMANDS);
  useEffect(() => { // it was gone to by its name alone
    if (before.current === panel) return;
    before.current = panel;
    const { layout, windows } = now();
    if (!windows.includes(panel) && !SIDES.some((side) => layout[side].some(({ at }) => at === panel))) void showPanel(panel);
  }, [panel]);
  return runs && <Drawn runs={runs} />;
}

function Drawn({ runs }: { runs: Runs }) {
  const layout = useStudio((state) => state.layout);
  const windows = useStudio((state) => state.windows);
  const open = useOpen(runs);
  const shown = SIDES.flatMap((side) => (side === "right" || open ? groupsOf(layout, side, windows).map(({ at }) => at) : []));
  return [...shown, ...windows].map((panel) => createPortal(<Content key={runs.path} panel={panel} runs={runs} />, hostOf(panel), panel));
}

function Content({ panel, runs }: { panel: Panel; runs: Runs }) {
  const none = useRun(runs) === undefined;
  if (panel === "scopes" && none) return <p className="panel-empty">Scopes show what a run records: Ctrl+Enter runs the diagram.</p>;
  const Panel = PANELS[panel];
  return (
    <Suspense fallback={<p className="panel-empty">Loading…</p>}>
      <Panel runs={runs} />
    </Suspense>
  );
}

/** Whether the groups at the bottom are open: before there is anything to show, the diagram has the room. */
function useOpen(runs: Runs): boolean {
  const none = useRun(runs) === undefined;
  return useStudio((state) => state.layout.open) ?? !none;
}

export function Panels({ side }: { side: Side }) {
  const runs = useRuns();
  return runs && <Groups side={side} runs={runs} />;
}

function Groups({ side, runs }: { side: Side; runs: Runs }) {
  const layout = useStudio((state) => state.layout);
  const windows = useStudio((state) => state.windows);
  const maximised = useStudio((state) => state.maximised);
  const opens = useOpen(runs);
  const isBottom = side === "bottom";
  const open = opens || !isBottom;
  const groups = groupsOf(layout, side, windows);
  const large = groups.some(({ at }) => at === maximised);
  const sized = (name: string, of: string, first: number, way: "left" | "up", share?: number) => (
    <Edge name={name} of={of} first={first} way={way} share={share}
      kept={{ size: layout.sizes[of], set: (size) => setLayout({ ...layout, sizes: { ...layout.sizes, [of]: size } }) }} />
  );
  if (!groups.length) return null;
  return (
    <>
      {!isBottom && sized("Width of the panels at the right", "panel-width", 380, "left", 0.7)}
      <section className={`panels ${side}-panel ${open ? "open" : ""} ${large ? "maximised" : ""}`} role={large && isBottom ? "main" : undefined} aria-label={isBottom ? "Results" : "Results at the right"}>
        {open && isBottom && sized("Height of the results", "panel-height", 300, "up")}
        <div className="panel-groups">
          {groups.map((group, k) => (
            <Fragment key={group.index}>
              {k > 0 && open && sized(`Size of ${NAMES[group.at]}`, `${side}-${k}`, isBottom ? 420 : 260, isBottom ? "left" : "up", 0.8)}
              <div className={`panel-group ${group.at === maximised ? "large" : ""}`} data-group={`${side} ${group.index}`}
                style={k > 0 ? { flex: `0 1 var(--${side}-${k})` } : undefined}>
                <Head group={group} open={open} folds={isBottom && k === groups.length - 1} />
                {open && <Slot key={group.at} panel={group.at} />}
              </div>
            </Fragment>
          ))}
        </div>
      </section>
    </>
  );
}

function Slot({ panel }: { panel: Panel }) {
  const slot = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const host = hostOf(panel);
    host.ariaLabel = NAMES[panel];
    slot.current!.append(host);
  }, [panel]);
  return <div className="panel-slot" ref={slot} onFocus={() => now().panel !== panel && patch({ panel })} />;
}

function Head({ group, open, folds }: { group: Group; open: boolean; folds: boolean }) {
  const { tabs, at } = group;
  const press = (event: KeyboardEvent<HTMLElement>): void => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (way === 0 || event.altKey) return;
    const next = tabs[(tabs.indexOf(at) + way + tabs.length) % tabs.length]!;
    void showPanel(next);
    document.getElementById(`tab-${next}`)?.focus();
    event.preventDefault();
  };
  const grab = async (event: PointerEvent<HTMLElement>, panel: Panel): Promise<void> => {
    const { currentTarget: tab, button, clientX, clientY, pointerId } = event;
    if (button === 0) (await import("./all")).follow(tab, panel, { clientX, clientY, pointerId });
  };
  const about = (): void => patch({ panel: at, dialog: "panels" });
  return (
    <div className="panel-head">
      <div className="tabs" role="tablist" aria-label={`Results: ${NAMES[at]}`} onKeyDown={press}>
        {tabs.map((one) => (
          <button key={one} type="button" role="tab" id={`tab-${one}`} aria-selected={one === at} aria-controls={open && one === at ? `panel-body-${one}` : undefined}
            tabIndex={one === at ? 0 : -1} onClick={() => void showPanel(one)} onPointerDown={(event) => void grab(event, one)}>
            {NAMES[one]}
          </button>
        ))}
      </div>
      <span className="panel-head-tools">
        {open && <Tool icon="grow" name={`${NAMES[at]} as large as the page, or back`} keys="Alt+Enter" onClick={() => void import("./all").then(({ maximise }) => maximise(at))} />}
        <Tool icon="more" name={`Where ${NAMES[at]} is`} keys="Ctrl+J" onClick={about} />
        {folds && (
          <button type="button" className="panel-fold" aria-expanded={open} onClick={() => setLayout({ ...now().layout, open: !open })}>
            {open ? "Hide" : "Show"}
          </button>
        )}
      </span>
    </div>
  );
}
