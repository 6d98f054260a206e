// Drawing whenever what is shown may have changed.

import { useEffect, useRef } from "react";

import { atNextFrame, notAtNextFrame } from "../run/frames";
import type { Live } from "./live";

/** Draw without React whenever what is shown may have changed, not more often than a period [ms]. */
export function useDrawn(live: Live, draw: () => void, every = 80): void {
  const newest = useRef(draw);
  newest.current = draw;
  useEffect(() => {
    const { runs } = live;
    let last = -Infinity;
    const work = (now: number): void => {
      if (now - last < every) return atNextFrame(work);
      last = now;
      newest.current();
    };
    const soon = (): void => atNextFrame(work);
    const ends = [runs.hear(soon), runs.hearRows(soon), runs.timeline.hear(soon), live.hear(soon)];
    soon();
    return () => {
      ends.forEach((end) => end());
      notAtNextFrame(work);
    };
  }, [live, every]);
  useEffect(() => atNextFrame(draw)); // what it is bound to may be another
}
