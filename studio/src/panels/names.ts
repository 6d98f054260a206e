// The panels in the order of their tabs, and what they are called.

import type { Panel } from "../store";

export const NAMES: Record<Panel, string> = {
  scopes: "Scopes",
  motion: "3-D",
  dashboard: "Dashboard",
  tune: "Tune",
  debug: "Debug",
  tests: "Tests",
  runs: "Runs",
  jobs: "Jobs",
  changes: "Changes",
  loops: "Loops",
};

export const ALL = Object.keys(NAMES) as Panel[];
