// The parts of the page and the bar between them that sets their share.

import { make } from "./dom";

export interface Parts {
  app: HTMLElement;
  stage: HTMLElement;
  /** Scopes, diagram and values; null where there are none. */
  panel: HTMLElement | null;
  controls: HTMLElement;
  /** Over the stage: the name of the motion and the choices. */
  over: HTMLElement[];
}

/** Put the parts into the page. Returns a function that hides or shows the panel. */
export function layOut({ app, stage, panel, controls, over }: Parts): () => void {
  const theatre = make("div", { class: "theatre" }, stage, ...over);
  const main = make("main", { class: "main" }, theatre);
  if (panel) {
    main.append(separator(main), panel);
  }
  app.className = "spart-viewer";
  app.replaceChildren(main, make("footer", {}, controls));
  return () => main.classList.toggle("alone");
}

/** A section of the panel that can be closed. */
export function section(title: string, ...content: Node[]): HTMLDetailsElement {
  return make("details", { class: "section", open: true }, make("summary", {}, title), ...content);
}

function separator(main: HTMLElement): HTMLElement {
  let share = 40;
  const bar = make("div", { class: "separator", role: "separator", tabindex: 0, "aria-label": "Width of the panel", "aria-orientation": "vertical" });
  const set = (percent: number): void => {
    share = Math.min(Math.max(percent, 15), 80);
    main.style.setProperty("--panel", `${share}%`);
    bar.setAttribute("aria-valuenow", String(Math.round(share)));
  };
  bar.addEventListener("pointerdown", (event) => bar.setPointerCapture(event.pointerId));
  bar.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) {
      const box = main.getBoundingClientRect();
      const below = getComputedStyle(main).flexDirection === "column";
      set(below ? (100 * (box.bottom - event.clientY)) / box.height : (100 * (box.right - event.clientX)) / box.width);
    }
  });
  bar.addEventListener("keydown", ({ key }) => {
    set(share + (key === "ArrowLeft" || key === "ArrowUp" ? 2 : key === "ArrowRight" || key === "ArrowDown" ? -2 : 0));
  });
  set(share);
  return bar;
}
