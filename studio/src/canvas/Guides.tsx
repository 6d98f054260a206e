// The lines along which what is being dragged is in line with other blocks.

import { ViewportPortal } from "@xyflow/react";
import { useSyncExternalStore } from "react";

import type { Guide } from "./guides";

let guides: readonly Guide[] = [];
const listeners = new Set<() => void>();

export function showGuides(next: readonly Guide[]): void {
  if (guides.length === 0 && next.length === 0) return;
  guides = next;
  for (const listener of listeners) listener();
}

function hear(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Guides() {
  const shown = useSyncExternalStore(hear, () => guides);
  if (shown.length === 0) return null;
  return (
    <ViewportPortal>
      {shown.map(({ upright, at, from, to }) => (
        <span key={`${upright} ${at}`} className={upright ? "guide upright" : "guide"}
          style={upright ? { left: at, top: from - 10, height: to - from + 20 } : { top: at, left: from - 10, width: to - from + 20 }} />
      ))}
    </ViewportPortal>
  );
}
