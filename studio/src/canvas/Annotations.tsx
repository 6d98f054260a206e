// Areas behind the blocks, and notes among them.

import { useReactFlow, ViewportPortal } from "@xyflow/react";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useSyncExternalStore } from "react";

import type { Point } from "../protocol";
import { now, patch, useStudio, type Writing } from "../store";
import { around, areaBoxes } from "./annotations";
import { boxesOf, type Box } from "./geometry";
import { hearShifts, moveMarks, restShifts, shiftOf, write } from "./marks";

type Nudge = (dx: number, dy: number, names?: readonly string[]) => void;

export function Annotations({ nudge }: { nudge: Nudge }) {
  const sheet = useStudio((state) => state.sheet);
  const writing = useStudio((state) => state.writing);
  const areas = useMemo(() => (sheet ? areaBoxes(sheet) : []), [sheet]);
  useEffect(restShifts, [sheet]);
  if (!sheet || (sheet.notes.length + areas.length === 0 && !writing)) return null;
  const fresh = writing?.index === null ? writing : null;
  const box = fresh?.of === "area" ? around(boxesOf(sheet.blocks, fresh.blocks ?? []), "title") : null;
  return (
    <ViewportPortal>
      {areas.map(({ index, title, colour, ...at }) => (
        <Mark key={`area ${index}`} of="area" index={index} text={title} box={at} className={`area tint-${colour}`} nudge={nudge} />
      ))}
      {sheet.notes.map(({ index, text, x, y }) => (
        <Mark key={`note ${index}`} of="note" index={index} text={text} box={{ x, y }} className="note" nudge={nudge} />
      ))}
      {fresh?.of === "note" && <div className="note" style={placed({ x: fresh.at![0], y: fresh.at![1] })}><Writer writing={fresh} text="" /></div>}
      {box && <div className="area tint-blue" style={placed(box)}><Writer writing={fresh!} text="" /></div>}
    </ViewportPortal>
  );
}

type Place = Pick<Box, "x" | "y"> & Partial<Box>;

function placed({ x, y, width, height }: Place, [dx, dy]: Point = [0, 0]) {
  return { transform: `translate(${x + dx}px, ${y + dy}px)`, width, height };
}

interface Props {
  of: "note" | "area";
  index: number;
  text: string;
  box: Place;
  className: string;
  nudge: Nudge;
}

/** A note or an area. An area is taken at its title and its edge, so that within it blocks are as on the sheet. */
function Mark({ of, index, text, box, className, nudge }: Props) {
  const key = `${of} ${index}`;
  const chosen = useStudio(({ marks }) => marks.includes(key));
  const writing = useStudio((state) => (state.writing?.of === of && state.writing.index === index ? state.writing : null));
  const shift = useSyncExternalStore(hearShifts, () => shiftOf(key));
  const drag = useDrag(key, nudge);
  const begin = (): void => {
    if (now().sheet?.within !== null) patch({ writing: { of, index } });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.target !== event.currentTarget) return;
    event.preventDefault();
    event.stopPropagation();
    begin();
  };
  return (
    <div className={`${className}${chosen ? " chosen" : ""}`} style={placed(box, shift)}>
      {writing ? <Writer writing={writing} text={text} /> : (
        <div className="handle nopan nodrag" tabIndex={0} role="group" aria-label={`${of}: ${text || "without a title"}`} data-mark={key}
          onFocus={() => choose(key, false)} onDoubleClick={begin} onKeyDown={onKeyDown} {...drag}>
          {text}
        </div>
      )}
      {of === "area" && ["top", "left", "right", "bottom"].map((side) => <span key={side} className={`rim ${side}`} data-mark={key} {...drag} />)}
    </div>
  );
}

function choose(key: string, more: boolean): void {
  const { marks } = now();
  if (more) patch({ marks: marks.includes(key) ? marks.filter((one) => one !== key) : [...marks, key] });
  else if (!marks.includes(key)) patch({ marks: [key], selection: [], wires: [] });
}

/** Moves the selected notes and areas with the pointer. */
function useDrag(key: string, nudge: Nudge) {
  const flow = useReactFlow();
  const last = useRef<Point>(null);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      choose(key, event.shiftKey || event.ctrlKey || event.metaKey);
      event.currentTarget.setPointerCapture(event.pointerId);
      last.current = [event.clientX, event.clientY];
    },
    onPointerMove: (event: PointerEvent) => {
      if (!last.current || event.buttons === 0) return;
      const { zoom } = flow.getViewport();
      const [dx, dy] = [event.clientX - last.current[0], event.clientY - last.current[1]].map((one) => Math.round(one / zoom)) as Point;
      if (dx === 0 && dy === 0) return;
      last.current = [last.current[0] + dx * zoom, last.current[1] + dy * zoom];
      moveMarks(now().marks, dx, dy, nudge);
    },
    onPointerUp: () => { last.current = null; },
    onPointerCancel: () => { last.current = null; },
  };
}

/** The field in which a note or a title is typed. Leaving it writes; Escape does not. */
function Writer({ writing, text }: { writing: Writing; text: string }) {
  const given = useRef(false);
  const end = (typed: string | null): void => {
    if (given.current) return;
    given.current = true;
    if (typed === null) patch({ writing: null });
    else void write(writing, typed);
  };
  const isNote = writing.of === "note";
  return (
    <textarea className="writer nopan nodrag nowheel" aria-label={isNote ? "Text of the note" : "Title of the area"} defaultValue={text} autoFocus rows={isNote ? 2 : 1}
      spellCheck={false} placeholder={isNote ? "Note" : "Title"} onFocus={(event) => event.target.select()} onBlur={(event) => end(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape") end(null);
        if (event.key === "Enter" && (!isNote || event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          event.stopPropagation();
          end(event.currentTarget.value);
        }
      }} />
  );
}
