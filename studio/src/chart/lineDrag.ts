// A line that is drawn with the pointer, from a state or an end of a transition to a state.

import { useReactFlow } from "@xyflow/react";
import { type PointerEvent as Pressed, useCallback, useEffect, useRef, useState } from "react";

import type { ChartState, Point } from "../protocol";
import { now } from "../store";
import { stateUnder } from "./editing";

export interface Line {
  from: Point;
  to: Point;
  /** The state under the pointer. */
  over: string | null;
}

export type Dropped = (state: ChartState | undefined, at: Point) => void;
export type BeginLine = (event: Pressed, from: Point, dropped: Dropped) => void;

/** The line that is being drawn, and what begins one. */
export function useLineDrag(): { line: Line | null; begin: BeginLine } {
  const flow = useReactFlow();
  const [line, setLine] = useState<Line | null>(null);
  const end = useRef<() => void>(() => undefined);
  useEffect(() => () => end.current(), []);
  const begin = useCallback<BeginLine>((event, from, dropped) => {
    if (event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    const start: Point = [event.clientX, event.clientY];
    let isMoved = false;
    const at = ({ clientX, clientY }: PointerEvent): [ChartState | undefined, Point] => {
      const { x, y } = flow.screenToFlowPosition({ x: clientX, y: clientY });
      const { chart } = now().sheet ?? {};
      return [chart && stateUnder(chart, [x, y]), [x, y]];
    };
    const move = (moved: PointerEvent): void => {
      isMoved ||= Math.hypot(moved.clientX - start[0], moved.clientY - start[1]) > 4;
      const [over, to] = at(moved);
      if (isMoved) setLine({ from, to, over: over?.path ?? null });
    };
    const up = (last: PointerEvent): void => {
      end.current();
      if (isMoved) dropped(...at(last));
    };
    const escape = (key: KeyboardEvent): void => {
      if (key.key === "Escape") end.current();
    };
    end.current = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("keydown", escape, true);
      setLine(null);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("keydown", escape, true);
  }, [flow]);
  return { line, begin };
}
