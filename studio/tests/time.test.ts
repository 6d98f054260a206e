import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Rows, Run } from "../src/protocol";
import { Newest } from "../src/run/newest";
import { Runs } from "../src/run/runs";
import { Timeline } from "../src/run/timeline";

const frames: ((now: number) => void)[] = [];
const frame = (now: number): void => frames.splice(0).forEach((work) => work(now));

beforeEach(() => {
  frames.length = 0;
  vi.stubGlobal("requestAnimationFrame", (work: (now: number) => void) => frames.push(work));
});

describe("Timeline", () => {
  it("goes along with a record that grows, until a time is chosen", () => {
    const timeline = new Timeline();
    timeline.span(0, 2);
    expect(timeline.time).toBe(2);
    timeline.goTo(1);
    timeline.span(0, 3);
    expect([timeline.time, timeline.atEnd]).toEqual([1, false]);
    timeline.goAlong();
    timeline.span(0, 4);
    expect(timeline.time).toBe(4);
  });

  it("plays at its speed, to the end", () => {
    const timeline = new Timeline();
    timeline.span(0, 1);
    timeline.goTo(0.5);
    timeline.setSpeed(2);
    timeline.toggle();
    frame(1000);
    frame(1100);
    expect(timeline.time).toBeCloseTo(0.7, 12);
    frame(1300);
    expect([timeline.time, timeline.playing]).toEqual([1, false]);
    timeline.toggle();
    expect(timeline.time).toBe(0);
  });
});

describe("Newest", () => {
  it("sends the last value once its turn comes, one at a time", async () => {
    vi.useFakeTimers();
    const sent: number[] = [];
    let done = (): void => undefined;
    const newest = new Newest<number>((value) => {
      sent.push(value);
      return new Promise<void>((resolve) => (done = resolve));
    }, 50);
    [1, 2, 3].forEach((value) => newest.give(value));
    expect(sent).toEqual([1]);
    await vi.advanceTimersByTimeAsync(60);
    expect(sent).toEqual([1]);
    done();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([1, 3]);
    done();
    await vi.advanceTimersByTimeAsync(60);
    newest.give(4);
    expect(sent).toEqual([1, 3, 4]);
    vi.useRealTimers();
  });
});

const signal = (name: string, live = true) => ({ name, shape: [], unit: "", labels: [], entries: [], live });
const run = (change: Partial<Run> = {}): Run => ({
  run: 1, label: "run 1", state: "running", t: 0, start: 0, T: 10, speed: 1, scopes: [{ title: "Angles", signals: ["a"] }],
  signals: [signal("a"), signal("b", false)], tuned: {}, carried: {}, kept: "whole", stopped: null, doing: null, warnings: [], problem: null,
  clocks: [], paused: null, breakpoints: {}, ...change,
});
const rows = (number: number, names: string[], values: number[][], n?: number): [Rows, Float64Array] => [
  { tell: "rows", path: "f", run: number, signals: names.map((name) => ({ name, width: 1 })), rows: values.length, width: names.length, ...(n === undefined ? {} : { n }) },
  Float64Array.from(values.flat()),
];

describe("Runs", () => {
  const asked: unknown[] = [];
  const answers: ReturnType<typeof rows>[] = [];
  const ask = (what: string, given: object): Promise<{ header: Rows; numbers: Float64Array }> => {
    asked.push([what, given]);
    const answer = answers.shift();
    return answer ? Promise.resolve({ header: answer[0], numbers: answer[1] }) : Promise.reject(new Error("not kept"));
  };

  beforeEach(() => {
    asked.length = 0;
    answers.length = 0;
  });

  it("shows a new run with the scopes of the diagram, and asks nothing for what is told", () => {
    const runs = new Runs("f", ask);
    runs.take(run({ state: "preparing", signals: [] }));
    runs.take(run());
    expect(runs.state.scopes).toEqual([{ id: 1, title: "Angles", signals: ["a"], hidden: [] }]);
    runs.takeRows(...rows(1, ["a"], [[0, 1], [1, 2]]));
    expect(runs.timeline.time).toBe(1);
    expect(runs.view).toEqual([0, 10]);
    expect(asked).toEqual([]);
  });

  it("shows the instant at which a step or a breakpoint has paused the run, and then goes on with it", () => {
    const runs = new Runs("f", ask);
    const met = { t: 1.5, why: "breakpoint", text: "a = 1", condition: "a > 1" } as const;
    runs.take(run());
    runs.takeRows(...rows(1, ["a"], [[0, 1], [1, 2]]));
    runs.take(run({ state: "paused", t: 2, paused: met }));
    expect([runs.timeline.time, runs.timeline.end, runs.timeline.atEnd]).toEqual([1.5, 2, false]);
    runs.timeline.goTo(0.5);
    runs.take(run({ state: "paused", t: 2, paused: { ...met } })); // told again
    expect(runs.timeline.time).toBe(0.5);
    runs.take(run({ state: "running", t: 2 }));
    expect(runs.timeline.atEnd).toBe(false); // an earlier time was gone to
    runs.take(run({ state: "paused", t: 3, paused: { ...met, t: 3, why: "tick" } }));
    expect([runs.timeline.time, runs.timeline.atEnd]).toEqual([3, true]);
  });

  it("asks for all of what it shows when the run has ended", async () => {
    const runs = new Runs("f", ask);
    runs.take(run());
    runs.takeRows(...rows(1, ["a"], [[0, 1], [1, 2]]));
    answers.push(rows(1, ["a"], [[0, 1], [0.5, 7], [1, 2]], 3));
    runs.take(run({ state: "ended", t: 1 }));
    await Promise.resolve();
    expect(asked).toEqual([["signals", { path: "f", run: 1, names: ["a"] }]]);
    expect(runs.recordOf(1).at("a", 0.5)).toEqual([7]);
    expect(runs.view).toEqual([0, 1]);
  });

  it("asks for what was told before the page was opened, and for runs laid over", async () => {
    const runs = new Runs("f", ask);
    runs.takeAll([run({ state: "ended", t: 10 }), run({ run: 2, label: "run 2", t: 4 })]);
    expect(runs.state.shown).toBe(2);
    runs.patch({ overlaid: [1] });
    await Promise.resolve();
    expect(asked).toEqual([
      ["signals", { path: "f", run: 2, names: ["a"] }],
      ["signals", { path: "f", run: 1, names: ["a"] }],
    ]);
    expect(runs.together.map((one) => one.run.run)).toEqual([2, 1]);
  });

  it("asks for a part of the time where it has not all rows, and drops what is not shown", async () => {
    vi.useFakeTimers();
    const runs = new Runs("f", ask);
    const [header, numbers] = rows(1, ["a"], [[0, 1], [5, 2], [10, 3]], 3);
    answers.push([{ ...header, thinned: true }, numbers], rows(1, ["a"], [[3, 1], [4, 7], [5, 2], [6, 3]], 4));
    runs.take(run({ state: "ended", t: 10 }));
    await vi.advanceTimersByTimeAsync(0);
    runs.patch({ looking: { how: "part", view: [4, 5] } });
    runs.patch({ looking: { how: "part", view: [4, 5.1] } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked.slice(1)).toEqual([["signals", { path: "f", run: 1, names: ["a"], from: expect.closeTo(2.9), to: expect.closeTo(6.2) }]]);
    expect(runs.recordOf(1).at("a", 4)).toEqual([7]);
    expect(runs.recordOf(1).tableOf("a", [0, 10])!.t.length).toBe(3);
    runs.patch({ looking: { how: "part", view: [4.2, 4.9] } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(2); // that is known
    runs.take(run({ run: 2, label: "run 2" }));
    expect(runs.recordOf(1).has("a")).toBe(false);
    answers.push(rows(1, ["a"], [[0, 1], [10, 3]], 5));
    runs.choose(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(runs.recordOf(1).at("a", 10)).toEqual([3]);
    vi.useRealTimers();
  });

  it("leaves out a run that is no longer kept", () => {
    const runs = new Runs("f", ask);
    for (const number of [1, 2, 3]) runs.take(run({ run: number, label: `run ${number}`, state: "ended", t: 10 }));
    runs.patch({ overlaid: [1] });
    runs.remove(1);
    expect(runs.state).toMatchObject({ shown: 3, overlaid: [], runs: [{ run: 2 }, { run: 3 }] });
    runs.remove(3);
    expect(runs.together.map((one) => one.run.run)).toEqual([2]);
  });

  it("keeps chosen scopes for the next run, and leaves the time where it was chosen until then", () => {
    const runs = new Runs("f", ask);
    runs.take(run());
    runs.takeRows(...rows(1, ["a"], [[0, 1], [2, 2]]));
    runs.patch({ scopes: [{ id: 3, title: "", signals: ["a"], hidden: [] }] });
    runs.timeline.goTo(1);
    runs.take(run({ t: 3 }));
    expect(runs.timeline.time).toBe(1);
    runs.take(run({ run: 2, label: "run 2" }));
    expect(runs.state.shown).toBe(2);
    expect(runs.timeline.atEnd).toBe(true);
    expect(runs.state.scopes[0]?.id).toBe(3);
  });

  it("shows the chosen part of the time of the next run while that run has any of it", () => {
    const runs = new Runs("f", ask);
    runs.take(run());
    runs.patch({ looking: { how: "part", view: [4, 6] } });
    runs.take(run({ run: 2, state: "preparing", T: 0 }));
    runs.take(run({ run: 2, T: 5 }));
    expect(runs.view).toEqual([4, 6]);
    runs.take(run({ run: 3, T: 3 }));
    expect(runs.state.looking).toEqual({ how: "whole" });
    expect(runs.view).toEqual([0, 3]);
    runs.choose(2);
    runs.patch({ looking: { how: "part", view: [4, 5] } });
    runs.take(run({ run: 2, T: 5, state: "ended", t: 3.5 }));
    expect(runs.state.looking).toEqual({ how: "whole" });
  });

  it("asks again for all that it shows after the connection was lost, and knows no runs that are gone", async () => {
    const runs = new Runs("f", ask);
    runs.take(run());
    runs.takeRows(...rows(1, ["a"], [[0, 1], [2, 2]]));
    runs.take(run({ run: 2, label: "run 2" }));
    answers.push(rows(1, ["a"], [[0, 1], [3, 5]], 1));
    runs.meetAgain([run({ t: 3 })]);
    await Promise.resolve();
    expect(runs.state).toMatchObject({ shown: 1, runs: [{ run: 1, t: 3 }] });
    expect(asked).toEqual([["signals", { path: "f", run: 1, names: ["a"] }]]);
    expect(runs.recordOf(1).at("a", 3)).toEqual([5]);
    runs.meetAgain([]);
    expect(runs.state).toMatchObject({ shown: null, runs: [] });
  });

  it("follows the last seconds, or shows a part", () => {
    const runs = new Runs("f", ask);
    runs.take(run());
    runs.patch({ looking: { how: "follow", seconds: 2 } });
    expect(runs.view).toEqual([0, 2]);
    runs.takeRows(...rows(1, ["a"], [[0, 1], [5, 2]]));
    expect(runs.view).toEqual([3, 5]);
    runs.patch({ looking: { how: "part", view: [1, 2] } });
    expect(runs.view).toEqual([1, 2]);
  });
});
