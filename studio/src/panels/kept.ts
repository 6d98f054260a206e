// Changes of what is kept for a file besides the file: the layout, the dashboard, sliders at scopes.

import { attempt } from "../actions";
import { connection, now, type Panel, patch } from "../store";
import type { Layout } from "./layout";

export function keep(change: Record<string, unknown>): void {
  const panels = { ...now().kept, ...change };
  patch({ kept: panels });
  void attempt(() => connection.ask("keep-panels", { path: now().opened?.path, panels }));
}

export function setLayout(layout: Layout): void {
  patch({ layout });
  keep({ layout });
}

/** Go to a panel. */
export async function showPanel(panel: Panel): Promise<void> {
  patch({ panel });
  const { withShown } = await import("./all");
  const { layout, maximised } = now();
  patch({ maximised: maximised && panel });
  setLayout(withShown(layout, panel));
}
