import { describe, expect, it } from "vitest";

import type { Run } from "../src/protocol";
import { RunRecord } from "../src/run/record";
import { listOf, numberOf, rangeOf, withElement } from "../src/run/ranges";
import { found, toggleLine, toggleSignal, withoutScope, withScope } from "../src/scopes/edit";
import { linesOf, partsOf, unitsOf } from "../src/scopes/lines";
import { shifted, zoomed } from "../src/scopes/looking";
import { fileName, pathOf, svgOf } from "../src/scopes/pictures";
import { signPath, SIGNS, styleOf } from "../src/scopes/styles";
import { STEPS, texts } from "../src/scopes/ticks";
import { LiveTracks } from "../src/motion/live";
import type { Motion } from "../../viewer/src/recording";

const signal = (name: string, shape: number[] = [], labels: string[] = [], entries: string[] = []) => ({ name, shape, unit: "rad", labels, entries, live: true });
const run = (number: number, signals = [signal("q", [2]), signal("a")]): Run => ({
  run: number, label: `run ${number}`, state: "ended", t: 1, start: 0, T: 1, speed: null, scopes: [], signals,
  tuned: {}, carried: {}, kept: "whole", stopped: null, doing: null, warnings: [], problem: null,
  clocks: [], paused: null, breakpoints: {},
});
const scope = { id: 1, title: "", signals: ["q", "a"], hidden: ["q[1]"] };

describe("lines", () => {
  it("are those of all numbers that are not hidden, of each run in its own dashes", () => {
    const lines = linesOf(scope, [{ run: run(1), record: new RunRecord() }, { run: run(2, [signal("a")]), record: new RunRecord() }]);
    expect(lines.map(({ key, order }) => [key, order])).toEqual([["q[0]", 0], ["a", 0], ["a", 1]]);
    expect(lines[1]!.style.colour).toBe(lines[2]!.style.colour);
    expect(lines[1]!.style.sign).toBe(lines[2]!.style.sign);
    expect(lines[1]!.style.dash).toEqual([]);
    expect(lines[2]!.style.dash).not.toEqual([]);
  });

  it("are called as the ports say", () => {
    expect(partsOf(run(1, [signal("w", [3], ["x", "y", "z"])]), "w").map(({ label }) => label)).toEqual(["w.x", "w.y", "w.z"]);
    expect(partsOf(run(1, [signal("R", [2, 2])]), "R").map(({ label }) => label)).toEqual(["R[0, 0]", "R[0, 1]", "R[1, 0]", "R[1, 1]"]);
    expect(partsOf(run(1), "gone")).toEqual([]);
  });

  it("have the names of joints, unless a scope labels them", () => {
    const [q] = [partsOf(run(1, [signal("p.q", [2], [], ["shoulder", "elbow"])]), "p.q")];
    expect(q.map(({ label, short }) => [label, short])).toEqual([["p.q[shoulder]", "[shoulder]"], ["p.q[elbow]", "[elbow]"]]);
    expect(q.map(({ key }) => key)).toEqual(["p.q[0]", "p.q[1]"]);
    expect(partsOf(run(1, [signal("q", [2], ["a", "b"], ["c", "d"])]), "q").map(({ label }) => label)).toEqual(["q.a", "q.b"]);
    expect(partsOf(run(1, [signal("q", [1, 2], [], ["one"])]), "q").map(({ label }) => label)).toEqual(["q[0, 0]", "q[0, 1]"]);
    expect(unitsOf(["rad", "", "m", "rad"])).toBe("[rad, m]");
  });

  it("differ by colour and sign for as many as there are pairs", () => {
    const pairs = Array.from({ length: 56 }, (_, line) => `${styleOf(line, 0).colour} ${styleOf(line, 0).sign}`);
    expect(new Set(pairs).size).toBe(56);
    expect(new Set(SIGNS.map((_, sign) => signPath(sign, 0, 0, 3))).size).toBe(SIGNS.length);
  });
});

describe("editing scopes", () => {
  it("adds and removes", () => {
    const two = withScope([scope], ["a"]);
    expect(two.map(({ id }) => id)).toEqual([1, 2]);
    expect(withoutScope(two, 1).map(({ id }) => id)).toEqual([2]);
    expect(toggleSignal(two, 2, "b")[1]!.signals).toEqual(["a", "b"]);
    expect(toggleSignal(two, 2, "a")[1]!.signals).toEqual([]);
    expect(toggleLine([scope], 1, "q[1]")[0]!.hidden).toEqual([]);
  });

  it("finds signals by words, those that begin so first", () => {
    const names = ["plant.tau", "tau.y", "ctrl.Tau_max"].map((name) => ({ name }));
    expect(found(names, "TAU").map(({ name }) => name)).toEqual(["tau.y", "plant.tau", "ctrl.Tau_max"]);
    expect(found(names, "max ctrl").map(({ name }) => name)).toEqual(["ctrl.Tau_max"]);
  });
});

describe("looking", () => {
  it("zooms about a time that stays where it is, and back to the whole", () => {
    const near = zoomed({ how: "whole" }, [0, 10], [0, 10], 0.5, 2);
    expect(near).toEqual({ how: "part", view: [1, 6] });
    expect(zoomed(near, [1, 6], [0, 10], 4, 2)).toEqual({ how: "whole" });
    expect(zoomed({ how: "follow", seconds: 4 }, [0, 4], [0, 10], 0.5, 0)).toEqual({ how: "follow", seconds: 2 });
    expect(shifted([2, 4], [0, 10], 0.5)).toEqual({ how: "part", view: [3, 5] });
    expect(shifted([2, 4], [0, 10], -9)).toEqual({ how: "part", view: [0, 2] });
  });
});

describe("pictures", () => {
  it("break lines where there is no value", () => {
    const same = (value: number): number => value;
    expect(pathOf([0, 0, 2, 2, 3, NaN, 4, 4], same, same)).toBe("M0 0L2 2M4 4");
  });

  it("hold their texts as texts", () => {
    const record = new RunRecord();
    record.append({ header: { signals: [{ name: "a", width: 1 }], rows: 2 }, numbers: Float64Array.of(0, 0, 1, 5) });
    const lines = linesOf({ ...scope, signals: ["a"] }, [{ run: run(1), record }]);
    const svg = svgOf("<script>", lines, { x: [0, 1], y: [0, 5] });
    expect(svg).toContain("&lt;script&gt;");
    expect(svg).not.toContain("<script");
    expect(svg).toContain(`stroke="${styleOf(0, 0).colour}"`);
    expect(fileName("τ & co/..")).toBe("τ_co_..");
  });
});

describe("tuning", () => {
  it("has sliders about the first value", () => {
    expect(rangeOf(2, 2)).toEqual({ min: 0, max: 4 });
    expect(rangeOf(-2, -2)).toEqual({ min: -4, max: 0 });
    expect(rangeOf(0, 0)).toEqual({ min: -1, max: 1 });
    expect(rangeOf(2, -1)).toEqual({ min: -4, max: 4 });
    expect(rangeOf(2, 10)).toEqual({ min: 0, max: 20 });
    expect(rangeOf(2, 2, { min: -1, max: 5 })).toEqual({ min: -1, max: 5 });
    expect(rangeOf(2, 2, { min: null, max: 3 })).toEqual({ min: 0, max: 3 });
    expect(rangeOf(2, 2, { min: 1, max: null })).toEqual({ min: 1, max: 4 });
  });

  it("knows numbers of YAML", () => {
    expect(["1.5", "-2e3", ".5"].map(numberOf)).toEqual([1.5, -2000, 0.5]);
    expect(["[1, 2]", "true", "", "1 m"].map(numberOf)).toEqual([NaN, NaN, NaN, NaN]);
  });
});

describe("lists", () => {
  it("are changed by element", () => {
    expect(listOf("[1, -2.5, 3e2]")).toEqual([1, -2.5, 300]);
    expect(["1", "[a, 2]", "[[1], [2]]", "[]"].map(listOf)).toEqual([null, null, null, null]);
    expect(withElement("[1, 2, 3]", 1, "7.5")).toBe("[1, 7.5, 3]");
  });
});

describe("LiveTracks", () => {
  const track = () => ({ t: Float64Array.of(0), p: new Float64Array(3), q: Float64Array.of(0, 0, 0, 1) });
  const motion = (): Motion =>
    ({ bodies: [{ name: "base", track: track() }, { name: "tip", track: track() }], end: 0 }) as unknown as Motion;
  const row = (t: number, x: number): number[] => [t, 0, 0, 0, 0, 0, 0, 1, x, 0, 0, 0, 0, 0, 1];

  it("keeps one row of a body that stands still, also until it moves", () => {
    const shown = motion();
    const live = new LiveTracks(shown);
    live.append(3, Float64Array.from([...row(0, 1), ...row(1, 1), ...row(2, 1)]));
    expect(live.moving).toBe(0);
    live.append(1, Float64Array.from(row(3, 2)));
    expect(live.moving).toBe(1);
    expect([...shown.bodies[1]!.track.t]).toEqual([0, 2, 3]);
    expect([...shown.bodies[1]!.track.p]).toEqual([1, 0, 0, 1, 0, 0, 2, 0, 0]);
    expect([...shown.bodies[0]!.track.t]).toEqual([0]);
    expect(shown.end).toBe(3);
  });

  it("refuses rows of another number of bodies, and leaves out what it has", () => {
    const live = new LiveTracks(motion());
    expect(live.append(1, Float64Array.of(0, 1))).toBe(false);
    const shown = motion();
    const other = new LiveTracks(shown);
    other.append(2, Float64Array.from([...row(1, 1), ...row(0.5, 9)]));
    expect([...shown.bodies[1]!.track.t]).toEqual([1]);
  });
});

describe("ticks", () => {
  it.each(STEPS.filter((step) => step > 1e-4 && step < 1e4))("are told apart and right at steps of %d", (step) => {
    const values = Array.from({ length: 9 }, (_, k) => (k - 3) * step);
    texts(values).forEach((text, k) => expect(Number(text.replace("−", "-"))).toBeCloseTo(values[k]!, 9));
  });
});
