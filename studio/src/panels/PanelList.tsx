// The list of panels: going to them, where they are, and layouts.

import { useMemo } from "react";

import { type Choice, Chooser } from "../app/Chooser";
import { Dialog } from "../app/Dialog";
import { now, type Panel, patch } from "../store";
import { bringBack, closePanel, goTo, LAYOUTS, maximise, moveTo, placeOf, popOut, setNamed, setPlace, split } from "./all";
import { setLayout } from "./kept";
import { ALL, NAMES } from "./names";

export function PanelList() {
  const choices = useMemo(all, []);
  const close = (): void => patch({ dialog: null });
  return (
    <Dialog name="Panels" onClose={close}>
      <Chooser label="Panels, where they are, layouts" choices={choices} onChoose={(run) => { close(); run(); }} />
    </Dialog>
  );
}

type Doing = Choice<() => void>;

function all(): Doing[] {
  const { panel } = now();
  const named = Object.keys(LAYOUTS).map((name) => doing(`Layout: ${name}`, () => setNamed(name), ["reset"]));
  return [...ofPanel(panel), ...named, ...ALL.map((one, k) => doing(`Go to ${NAMES[one]}`, () => void goTo(one), [`Alt+${k + 1}`])), ...sides()];
}

function doing(name: string, thing: () => void, words: readonly string[] = [], note?: string): Doing {
  return { key: name, name, thing, words, note };
}

/** What can be done with the panel that was gone to last. */
function ofPanel(panel: Panel): Doing[] {
  const { layout, windows, maximised } = now();
  const name = NAMES[panel];
  const place = placeOf(layout, panel);
  if (windows.includes(panel)) return [doing(`${name}: back into the page`, () => bringBack(panel), ["window"])];
  if (!place) return [];
  const others = (["bottom", "right"] as const).flatMap((side) =>
    layout[side].flatMap((group, at) => (group.tabs.includes(panel) ? [] : [{ side, at, group }])));
  return [
    ...(place.group.tabs.length > 1 ? [doing(`${name}: split off, beside the others`, () => { split(panel); void goTo(panel); })] : []),
    ...(place.side === "bottom" ? [doing(`${name}: to the right of the sheet`, () => { moveTo(panel, "right"); void goTo(panel); }, ["move"])] : []),
    ...(place.side === "right" ? [doing(`${name}: to the bottom`, () => { moveTo(panel, "bottom"); void goTo(panel); }, ["move", "below"])] : []),
    ...others.map(({ side, at, group }) =>
      doing(`${name}: together with ${group.tabs.map((one) => NAMES[one]).join(", ")}`, () => { setPlace(panel, { side, at, how: "into" }); void goTo(panel); }, ["move", "join"])),
    doing(`${name}: in a window of its own`, () => popOut(panel), ["pop out"]),
    doing(`${name}: ${maximised === null ? "as large as the page" : "as large as before"}`, () => void maximise(panel), ["maximise", "restore", "Alt+Enter"]),
    doing(`${name}: close`, () => closePanel(panel), ["hide"], "Going to it brings it back."),
  ];
}

/** Sides of the page, shown or not. */
function sides(): Doing[] {
  const { layout } = now();
  const { hides, open } = layout;
  const side = (one: "palette" | "form", name: string): Doing => {
    const hidden = hides.includes(one);
    const next = hidden ? hides.filter((other) => other !== one) : [...hides, one];
    return doing(`${hidden ? "Show" : "Hide"} ${name}`, () => setLayout({ ...layout, hides: next }));
  };
  return [
    doing(open ? "Hide the panels at the bottom" : "Show the panels at the bottom", () => setLayout({ ...layout, open: !open })),
    side("palette", "the list of blocks"),
    side("form", "the parameters"),
  ];
}
