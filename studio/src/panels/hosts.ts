// The elements in which panels are drawn. They move with their panels, so that a scene or a search
// stays as it is.

import type { Panel } from "../store";

const hosts = new Map<Panel, HTMLElement>();

export function hostOf(panel: Panel): HTMLElement {
  let host = hosts.get(panel);
  if (!host) {
    host = document.createElement("div");
    host.className = "panel-body";
    host.id = `panel-body-${panel}`;
    host.role = "tabpanel";
    hosts.set(panel, host);
  }
  return host;
}
