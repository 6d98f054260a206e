// Which states are active at the time that is shown, and which transition was taken last.

import { useSyncExternalStore } from "react";

export interface Activity {
  /** By path: true, or in how many copies of a machine it is active. */
  states: Readonly<Record<string, true | string>>;
  /** The path of the source and the name of the target of the transition taken last. */
  taken: string | null;
}

let activity: Activity = { states: {}, taken: null };
const listeners = new Set<() => void>();

export function setActivity(found: Activity): void {
  activity = found;
  for (const listener of listeners) listener();
}

function hear(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A part of it, in a component; a text or a truth, so that it is the same while nothing changes. */
export function useActivity<T extends string | boolean | undefined>(select: (activity: Activity) => T): T {
  return useSyncExternalStore(hear, () => select(activity));
}
