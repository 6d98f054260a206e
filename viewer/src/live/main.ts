// The page that runs, with robots in three dimensions.

import { OptionsPanel } from "../options";
import type { Motion } from "../recording";
import { Theatre } from "../theatre";
import theatreStyle from "../theatre.css?inline";
import { open, type Scene } from "./page";

function sceneOf(motion: Motion, refresh: () => void): Scene {
  const theatre = new Theatre(motion);
  const { stage } = theatre;
  const fit = (): void => {
    theatre.fit();
    refresh();
  };
  const options = new OptionsPanel(theatre.options, motion, theatre.tracers, refresh, fit);
  return {
    element: stage.element,
    style: theatreStyle,
    over: stage.draws ? [options.element] : [],
    seen: { view: stage.view, options, fit },
    update: () => {
      stage.measure(motion);
      theatre.clearTrails();
    },
    show: (time) => theatre.show(time),
    draw: (seconds, playing) => {
      if (playing) {
        stage.watchSpeed(seconds);
      }
      stage.draw();
    },
    setTheme: (dark) => stage.setTheme(dark),
    resize: () => stage.resize(),
    dispose: () => stage.dispose(),
  };
}

void open(document.getElementById("app")!, sceneOf);
