// The time that is shown: gone to with a slider, a number or keys, and played again.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";

import { nextSpeed, timeText } from "../../../viewer/src/clock";
import { atNextFrame } from "./frames";
import { useRun } from "./book";
import { Picture } from "./RunBar";
import { isOver, type Runs } from "./runs";

const STEPS: Record<string, number> = {
  ArrowLeft: -0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1,
};
const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10];

export function TimeBar({ runs }: { runs: Runs }) {
  const run = useRun(runs);
  const { timeline } = runs;
  const slider = useRef<HTMLInputElement>(null);
  const text = useRef<HTMLInputElement>(null);
  const [playing, setPlaying] = useState(timeline.playing);
  const [speed, setSpeed] = useState(timeline.speed);
  const [atEnd, setAtEnd] = useState(timeline.atEnd);
  useEffect(() => {
    const show = (): void => {
      showTime(runs, slider.current, text.current);
      setPlaying(timeline.playing);
      setSpeed(timeline.speed);
      setAtEnd(timeline.atEnd);
    };
    show();
    return timeline.hear(() => atNextFrame(show));
  }, [runs, timeline]);
  if (!run) return <p className="time-bar empty">Nothing has run yet: Ctrl+Enter runs the diagram.</p>;
  const press = (event: KeyboardEvent): void => {
    const share = STEPS[event.key];
    if (share !== undefined) timeline.step(event.shiftKey ? share / 10 : share);
    else if (event.key === "Home") timeline.goTo(timeline.start);
    else if (event.key === "End") timeline.goAlong();
    else if (event.key === " ") timeline.toggle();
    else if (event.key === "[" || event.key === "]") timeline.setSpeed(nextSpeed(timeline.speed, event.key === "]" ? 1 : -1));
    else return;
    event.preventDefault();
  };
  return (
    <div className="time-bar" role="group" aria-label="Time">
      <button type="button" className="tool" aria-label="To the start" title="To the start (Home)" onClick={() => timeline.goTo(timeline.start)}>
        <Picture name="start" />
      </button>
      <button type="button" className="tool" aria-label={playing ? "Stop playing" : "Play the record"}
        title={playing ? "Stop playing (space in the slider)" : "Play the record again (space in the slider)"}
        onClick={() => timeline.toggle()}>
        <Picture name={playing ? "pause" : "play"} />
      </button>
      <button type="button" className="tool" aria-label={isOver(run) ? "To the end" : "Go with the run"} aria-pressed={atEnd}
        title={isOver(run) ? "To the end (End)" : "Go with the run (End)"} onClick={() => timeline.goAlong()}>
        <Picture name="end" />
      </button>
      <input ref={slider} type="range" aria-label="Time" step="any" title="Arrows: 1 %, with Shift 0.1 %; PageUp, PageDown: 10 %"
        onKeyDown={press} onInput={({ currentTarget }) => timeline.goTo(currentTarget.valueAsNumber)} />
      <label className="time-now">
        <input ref={text} type="text" inputMode="decimal" aria-label="Time in seconds" title="Go to a time: type it, Enter"
          onFocus={({ currentTarget }) => currentTarget.select()} onBlur={() => showTime(runs, slider.current, text.current)}
          onKeyDown={(event) => typed(event, runs)} /> s
      </label>
      <label className="run-speed">
        <span>Replay</span>
        <select title="Speed of playing the record ([ and ] in the slider)" value={speed} onChange={({ target }) => timeline.setSpeed(Number(target.value))}>
          {SPEEDS.map((one) => <option key={one} value={one}>{one} ×</option>)}
        </select>
      </label>
    </div>
  );
}

/** Go to the time that is typed. */
function typed(event: KeyboardEvent<HTMLInputElement>, { timeline }: Runs): void {
  const field = event.currentTarget;
  const time = Number(field.value.replace(",", ".").replace(/s\s*$/, ""));
  if (event.key === "Escape") field.blur();
  if (event.key !== "Enter" || !field.value.trim() || Number.isNaN(time)) return;
  timeline.goTo(time);
  field.value = String(timeline.time);
  field.select();
}

/** Show the time without React: it may change with each frame. */
function showTime({ timeline }: Runs, slider: HTMLInputElement | null, text: HTMLInputElement | null): void {
  if (!slider || !text) return;
  const { time, start, end } = timeline;
  slider.min = String(start);
  slider.max = String(end);
  slider.value = String(time);
  const words = timeText(time, end - start);
  slider.setAttribute("aria-valuetext", words);
  // What is typed stays, and an exact time is not rounded.
  if (text !== document.activeElement && Number(text.value) !== time) text.value = words.replace(" s", "");
}
