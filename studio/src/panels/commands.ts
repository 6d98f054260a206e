// Keys of panels. What they do is loaded with the first of them.

import type { Command } from "../app/keys";
import { type Panel, patch } from "../store";
import { ALL, NAMES } from "./names";

/** It is the panel that is meant from now on, also before the rest is loaded. */
async function goTo(panel: Panel): Promise<void> {
  patch({ panel });
  await (await moves()).goTo(panel);
}

const moves = () => import("./all");

export const COMMANDS: [string, Command[]][] = [
  ["Panels", [
    { keys: ["Ctrl+J"], what: "all panels, where they are, and layouts", run: () => patch({ dialog: "panels" }) },
    ...ALL.map((panel, k): Command => ({ keys: [`Alt+${(k + 1) % 10}`], what: NAMES[panel], run: () => void goTo(panel) })),
    { keys: ["F6", "Shift+F6"], what: "the next panel, the one before", run: async (key) => (await moves()).goOn(key === "F6" ? 1 : -1) },
    { keys: ["Alt+Enter"], what: "the panel as large as the page, and back", run: async () => (await moves()).maximise() },
  ]],
];
