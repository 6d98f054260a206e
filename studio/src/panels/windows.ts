// Panels in windows of their own. These have no page in them: the panel's element is put into their
// document, so that there is one record and one time.

import { notify } from "../actions";
import { hearKeys } from "../app/keys";
import { drawAlsoIn } from "../run/frames";
import { haveMoved } from "../run/sizes";
import { now, type Panel, patch, watch } from "../store";
import { hostOf } from "./hosts";
import { showPanel } from "./kept";
import { NAMES } from "./names";

const opened = new Map<Panel, Window>();

/** Open a window for a panel. */
export function popOut(panel: Panel): void {
  if (opened.has(panel)) return opened.get(panel)!.focus();
  const { width, height } = hostOf(panel).getBoundingClientRect();
  const size = `popup,width=${Math.round(Math.max(width, 520))},height=${Math.round(Math.max(height, 400))}`;
  const own = open("", "_blank", size);
  if (!own) return notify("The browser does not let the page open a window: allow it for this address", "fault");
  opened.set(panel, own);
  fill(own, panel);
  const ends = [watchStyles(own), hearKeys(own, ["Run", "Panels"]), drawAlsoIn(own), helpPlots(own)];
  own.addEventListener("pagehide", () => {
    ends.forEach((end) => end());
    opened.delete(panel);
    document.adoptNode(hostOf(panel));
    haveMoved();
    patch({ windows: now().windows.filter((one) => one !== panel) });
  });
  patch({ windows: [...now().windows, panel], maximised: null, said: `${NAMES[panel]}: in a window of its own` });
}

/** Close the window of a panel; the panel is where it was in the page. */
export function bringBack(panel: Panel): void {
  opened.get(panel)?.close();
  void showPanel(panel);
}

function fill({ document: page }: Window, panel: Panel): void {
  const name = NAMES[panel];
  page.title = `${name} · ${now().opened?.name ?? "spart studio"}`;
  page.documentElement.lang = "en";
  page.body.className = "panel-window";
  const main = page.createElement("main");
  const back = page.createElement("button");
  back.type = "button";
  back.className = "panel-back";
  back.textContent = "Back into the page";
  back.addEventListener("click", () => bringBack(panel));
  const heading = page.createElement("h1");
  heading.className = "unseen";
  heading.textContent = page.title;
  main.ariaLabel = name;
  main.append(heading, hostOf(panel));
  page.body.append(back, main);
  haveMoved();
}

/** Give a window the styles of the page, also those that are loaded later. */
function watchStyles({ document: page }: Window): () => void {
  const has = new Set<string>();
  const copy = (): void => {
    for (const { href } of document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")) {
      if (has.has(href)) continue;
      has.add(href);
      const link = page.createElement("link");
      link.rel = "stylesheet";
      link.href = href;
      page.head.append(link);
    }
  };
  copy();
  const observer = new MutationObserver(copy);
  observer.observe(document.head, { childList: true });
  return () => observer.disconnect();
}

/** uPlot hears of the end of a drag from the document in which it was made, and of other places of
 * plots from its window. */
function helpPlots(own: Window): () => void {
  const ended = ({ button, clientX, clientY }: MouseEvent): void =>
    void document.dispatchEvent(new MouseEvent("mouseup", { button, clientX, clientY }));
  const moved = (): void => void dispatchEvent(new Event("resize"));
  own.addEventListener("mouseup", ended);
  own.addEventListener("resize", moved);
  own.addEventListener("scroll", moved, true);
  return () => undefined; // they end with the window
}

addEventListener("pagehide", () => opened.forEach((own) => own.close()));
watch(() => now().opened === null && opened.forEach((own) => own.close()));
