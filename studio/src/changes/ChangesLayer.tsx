// What has changed, drawn over the sheet: frames around blocks, bands along wires, and what is gone.

import { useReactFlow, ViewportPortal } from "@xyflow/react";
import { useEffect, useMemo } from "react";

import { lineThrough } from "../canvas/geometry";
import { patch, useStudio } from "../store";
import "./changes.css";
import { type Ghost, ghostsOf } from "./ghosts";

const AROUND = 5;

export default function ChangesLayer() {
  const sheet = useStudio((state) => state.sheet);
  const changes = useStudio((state) => state.changes);
  const marks = sheet?.within == null ? undefined : changes?.sheets[sheet.within];
  const ghosts = useMemo(() => (sheet && marks ? ghostsOf(sheet, marks) : []), [sheet, marks]);
  useShown(ghosts);
  if (!sheet || !marks) return null;
  const boxes = new Map([...sheet.blocks, ...ghosts].map((box) => [box.name, box]));
  const come = new Set(marks.wires.map(({ source, target }) => `${source} -> ${target}`));
  return (
    <ViewportPortal>
      <svg className="changes" role="img" aria-label={wordsOf(marks)} width={1} height={1}>
        {sheet.wires.filter(({ source, target }) => come.has(`${source} -> ${target}`)).map(({ source, target, points }) => (
          <path key={`${source} ${target}`} className="mark-wire added" d={lineThrough(points)} />
        ))}
        {marks.lost.map(({ source, target, start, end }) => {
          const [from, to] = [boxes.get(start), boxes.get(end)];
          if (!from || !to) return null;
          return (
            <path key={`${source} ${target}`} className="mark-wire removed" d={lineThrough([[from.x + from.width, from.y + from.height / 2], [to.x, to.y + to.height / 2]])}>
              <title>{`${source} -> ${target}`}</title>
            </path>
          );
        })}
        {sheet.blocks.map(({ name, x, y, width, height }) => {
          const state = marks.blocks[name];
          return state && (
            <rect key={name} className={`mark-block ${state}`} data-block={name} x={x - AROUND} y={y - AROUND} width={width + 2 * AROUND} height={height + 2 * AROUND} rx={12} />
          );
        })}
        {ghosts.map((ghost) => <Gone key={ghost.name} ghost={ghost} />)}
      </svg>
    </ViewportPortal>
  );
}

function Gone({ ghost: { name, type, x, y, width, height } }: { ghost: Ghost }) {
  return (
    <g className="mark-gone" data-block={name}>
      <rect x={x} y={y} width={width} height={height} rx={9} />
      <text x={x + width / 2} y={y + height / 2 - 2}>{name}</text>
      <text className="type" x={x + width / 2} y={y + height / 2 + 12}>{type}</text>
    </g>
  );
}

function wordsOf({ blocks, gone, wires, lost }: { blocks: object; gone: readonly unknown[]; wires: readonly unknown[]; lost: readonly unknown[] }): string {
  return `Changes: ${Object.keys(blocks).length} blocks marked, ${gone.length} gone; ${wires.length} wires added, ${lost.length} gone`;
}

/** Bring a block that is gone into view, when it is asked for. */
function useShown(ghosts: readonly Ghost[]): void {
  const flow = useReactFlow();
  const wanted = useStudio((state) => state.gone);
  useEffect(() => {
    const ghost = ghosts.find(({ name }) => name === wanted);
    if (!ghost) return;
    void flow.setCenter(ghost.x + ghost.width / 2, ghost.y + ghost.height / 2, { zoom: Math.max(flow.getZoom(), 0.8) });
    patch({ gone: null });
  }, [flow, ghosts, wanted]);
}
