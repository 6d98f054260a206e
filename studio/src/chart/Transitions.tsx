// The transitions of a chart, drawn over its states.

import { ViewportPortal } from "@xyflow/react";
import { useContext } from "react";

import { lineThrough } from "../canvas/geometry";
import type { Chart, ChartLine, ChartTransition, Point } from "../protocol";
import { now, patch, useStudio } from "../store";
import { useActivity } from "./activity";
import { retarget, stateAt } from "./editing";
import type { Line } from "./lineDrag";
import { BeginContext } from "./StateNode";

const COLOURS = 6;

export function Transitions({ chart, readOnly, line }: { chart: Chart; readOnly: boolean; line: Line | null }) {
  const width = chart.width + 40;
  const loose = chart.transitions.filter(({ lines }) => lines.length === 0);
  return (
    <ViewportPortal>
      <svg className="transitions" width={width} height={chart.height + 40} aria-hidden={chart.transitions.length === 0}>
        {chart.transitions.map((one) => one.lines.map((part, k) => (
          <Transition key={`${one.path} ${part.source}`} chart={chart} one={one} part={part} isFirst={k === 0} readOnly={readOnly} />
        )))}
        {line && <path className="drawn-line" d={lineThrough([line.from, line.to])} />}
      </svg>
      {loose.length > 0 && <Loose transitions={loose} top={chart.height + 16} />}
    </ViewportPortal>
  );
}

function choose(path: string, more: boolean): void {
  const { selection } = now();
  const others = more ? selection.filter((one) => one !== path) : [];
  patch({ selection: more && others.length < selection.length ? others : [...others, path], wires: [] });
}

interface Props {
  chart: Chart;
  one: ChartTransition;
  part: ChartLine;
  isFirst: boolean;
  readOnly: boolean;
}

function Transition({ chart, one, part, isFirst, readOnly }: Props) {
  const { path, target, problems } = one;
  const begin = useContext(BeginContext);
  const selected = useStudio(({ selection }) => selection.includes(path));
  const trial = useStudio(({ trial }) => trial.some((problem) => problem.path === path || problem.path?.startsWith(`${path}.`)));
  const last = useActivity((activity) => activity.taken === `${part.source} ${target}`);
  const source = stateAt(chart, part.source)?.name ?? "";
  const rows = chart.transitions.flatMap(({ lines }) => lines).filter(({ lane }) => lane === part.lane).map(({ row }) => row);
  const ends = [part.head, ...rows];
  const joined = part.row > Math.min(...ends) && part.row < Math.max(...ends);
  const points: Point[] = [[part.start, part.row], [part.lane, part.row], [part.lane, part.head], [part.end + 4, part.head]];
  const wrong = problems.length > 0 || trial;
  const kinds = [selected && "chosen", wrong && "wrong", last && "taken"].filter(Boolean).join(" ");
  const label = `transition from ${source} to ${target}, ${one.when}${problems[0] ? `: ${problems[0].message}` : ""}`;
  const drop = (end: "from" | "to") => (event: React.PointerEvent) =>
    begin(event, end === "from" ? points.at(-1)! : points[0]!, (state) => void (state && retarget(one, end, state, source)));
  return (
    <g className={`transition lane${part.colour % COLOURS} ${kinds}`} role="button" aria-label={label} aria-pressed={selected}
      tabIndex={isFirst ? 0 : -1} data-path={path} onClick={(event) => choose(path, event.shiftKey || event.ctrlKey || event.metaKey)}
      onFocus={(event) => event.target.matches(":focus-visible") && patch({ selection: [path], wires: [], reveal: [path] })}
      onDoubleClick={() => patch({ selection: [path], filling: "when" })}>
      <title>{problems[0]?.message ?? label}</title>
      <path className="reach" d={lineThrough(points, 8)} />
      <path className="line" d={lineThrough(points, 8)} />
      <path className="tip" d={`M${part.end} ${part.head}l9 -4v8z`} />
      {joined && <circle className="joint" cx={part.lane} cy={part.row} r="2.2" />}
      <text x={part.text} y={part.row - 5}>{part.when}</text>
      {one.do && <text className="do" x={part.text} y={part.row + 13}>{one.do}</text>}
      {selected && !readOnly && (
        <>
          <circle className="grip nopan" cx={part.start + 5} cy={part.row} r="6" onPointerDown={drop("from")}><title>Drag to another state to leave that</title></circle>
          <circle className="grip nopan" cx={part.end + 14} cy={part.head} r="6" onPointerDown={drop("to")}><title>Drag to another state to enter that</title></circle>
        </>
      )}
    </g>
  );
}

/** Transitions from or to states that are not there. */
function Loose({ transitions, top }: { transitions: readonly ChartTransition[]; top: number }) {
  const selection = useStudio((state) => state.selection);
  return (
    <ul className="loose" style={{ top }} aria-label="Transitions without their states">
      {transitions.map(({ path, sources, target, when, problems }) => (
        <li key={path}>
          <button type="button" className="nopan" aria-pressed={selection.includes(path)} title={problems[0]?.message} onClick={(event) => choose(path, event.shiftKey)}>
            {sources.join(", ") || "?"} → {target || "?"} {when}
          </button>
        </li>
      ))}
    </ul>
  );
}
