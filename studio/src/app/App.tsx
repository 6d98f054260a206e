// The frame of the page: the list of diagrams, or one diagram with all that belongs to it.

import { ReactFlowProvider } from "@xyflow/react";
import { lazy, Suspense, useEffect } from "react";

import { hashOf } from "../actions";
import { Canvas } from "../canvas/Canvas";
import { Palette } from "../canvas/Palette";
import { FormPanel } from "../forms/FormPanel";
import { JOB_COMMANDS } from "../jobs/commands";
import { Contents, Panels } from "../panels/Panels";
import { RunBar } from "../run/RunBar";
import { useStudio } from "../store";
import { Edge } from "./Edge";
import { Header } from "./Header";
import { useCommands, useKeys } from "./keys";
import { Notices } from "./Notices";
import { Problems } from "./Problems";

export function App() {
  const opened = useStudio((state) => state.opened !== null);
  const listed = useStudio((state) => state.project !== null);
  const said = useStudio((state) => state.said);
  const { hides } = useStudio((state) => state.layout);
  useAddress();
  return (
    <div className="app" data-hides={hides.join(" ")}>
      {opened ? <Diagram /> : listed ? <Suspense><ProjectList /><Notices /></Suspense> : <><main className="project" aria-busy="true" /><Notices /></>}
      <div className="unseen" role="status">{said}</div>
    </div>
  );
}

function Diagram() {
  useKeys();
  useCommands(JOB_COMMANDS);
  return (
    <ReactFlowProvider>
      <Header />
      <div className="middle">
        <Left />
        <main className="between" aria-label="Diagram">
          <Edge name="Width of the list of blocks" of="palette" first={205} way="right" />
          <div className="sheet">
            <Behind />
            <Problems />
            <Notices />
          </div>
          <Code />
          <Panels side="right" />
          <Edge name="Width of the parameters" of="form" first={290} way="left" />
        </main>
        <FormPanel />
      </div>
      <section aria-label="Run">
        <RunBar />
      </section>
      <Panels side="bottom" />
      <Contents />
      <Windows />
    </ReactFlowProvider>
  );
}

/** The sheet; Tab does not reach it behind a panel that is as large as the page. */
function Behind() {
  const hidden = useStudio((state) => state.maximised !== null);
  return <div style={{ display: "contents" }} inert={hidden}><Sheet /></div>;
}

/** Blocks and wires, or the chart of a state machine. */
function Sheet() {
  const isChart = useStudio((state) => state.sheet?.chart !== undefined);
  return isChart ? <Suspense><ChartSheet /></Suspense> : <Canvas />;
}

/** What is at the left: blocks to add, or the states of a chart. */
function Left() {
  const isChart = useStudio((state) => state.sheet?.chart !== undefined);
  return isChart ? <Suspense fallback={<aside className="palette" />}><Outline /></Suspense> : <Palette />;
}

// Loaded when they are first needed, so that a diagram is there sooner.
const Dialogs = lazy(() => import("./Dialogs"));
const ChartSheet = lazy(() => import("../chart/ChartSheet"));
const Outline = lazy(() => import("../chart/Outline"));
const ProjectList = lazy(async () => ({ default: (await import("./ProjectList")).ProjectList }));

const CodePanel = lazy(() => import("../code/CodePanel"));

function Code() {
  const isOpen = useStudio((state) => state.code !== null);
  return isOpen && <Suspense><CodePanel /></Suspense>;
}

function Windows() {
  const needed = useStudio(({ dialog, adding, menu }) => dialog !== null || adding !== null || menu !== null);
  return needed && <Suspense><Dialogs /></Suspense>;
}

/** Keep the address and the title with what is shown. */
function useAddress(): void {
  const path = useStudio((state) => state.opened?.path);
  const at = useStudio((state) => state.sheet?.at ?? "");
  const shown = useStudio((state) => state.opened !== null || state.project !== null);
  const name = useStudio((state) => state.opened?.name);
  useEffect(() => {
    if (!shown) return;
    const hash = path ? hashOf(path, at) : "";
    if (hash !== location.hash) history.pushState(null, "", hash || location.pathname);
    document.title = name ? `${name} · spart studio` : "spart studio";
  }, [path, at, shown, name]);
}
