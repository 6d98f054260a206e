// The edge of a panel, dragged or moved by arrows. How far it goes is kept, and is a variable of the
// styles.

import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useRef, useState } from "react";

interface Props {
  name: string;
  /** What the variable is called: "--palette" is "palette". */
  of: string;
  first: number;
  /** The way in which the panel grows. */
  way: "right" | "left" | "up";
  /** Its size as it is kept, and how a new one is; without, the browser keeps it. */
  kept?: { size: number | undefined; set: (size: number) => void };
  /** The largest share of the page. */
  share?: number;
}

const LEAST = 120;
const WAYS = { right: 1, left: -1, up: -1 };

export function Edge({ name, of, first, way, kept, share = way === "up" ? 0.8 : 0.4 }: Props) {
  const key = `spart-${of}`;
  const [own, setOwn] = useState(() => Number(localStorage.getItem(key)) || first);
  const size = kept ? Number(kept.size) || first : own;
  const from = useRef<[at: number, size: number] | null>(null);
  const upright = way !== "up";
  const most = Math.round(share * (upright ? innerWidth : innerHeight));
  const shown = Math.min(size, most);
  useLayoutEffect(() => document.documentElement.style.setProperty(`--${of}`, `${shown}px`), [of, shown]);
  const resize = (wanted: number): void => {
    const next = Math.round(Math.min(Math.max(wanted, LEAST), most));
    if (kept) return kept.set(next);
    setOwn(next);
    localStorage.setItem(key, String(next));
  };
  const at = (event: PointerEvent): number => (upright ? event.clientX : event.clientY);
  const down = (event: PointerEvent<HTMLElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    from.current = [at(event), shown];
  };
  const move = (event: PointerEvent): void => {
    if (from.current) resize(from.current[1] + WAYS[way] * (at(event) - from.current[0]));
  };
  const press = (event: KeyboardEvent): void => {
    const [more, less] = upright ? ["ArrowRight", "ArrowLeft"] : ["ArrowDown", "ArrowUp"];
    const step = event.key === more ? 20 : event.key === less ? -20 : 0;
    if (step === 0) return;
    resize(shown + WAYS[way] * step);
    event.preventDefault();
  };
  return (
    <div className={upright ? "edge upright" : "edge"} role="separator" aria-orientation={upright ? "vertical" : "horizontal"} tabIndex={0}
      aria-label={name} aria-valuenow={shown} aria-valuemin={LEAST} aria-valuemax={most} title={name}
      onPointerDown={down} onPointerMove={move} onPointerUp={() => (from.current = null)} onDoubleClick={() => resize(first)} onKeyDown={press} />
  );
}
