import { describe, expect, it } from "vitest";

import { finish, painting, type Colours } from "../src/canvas/paint";
import { svgOf } from "../src/canvas/picture";
import { sceneOf } from "../src/canvas/scene";
import { endsOf } from "../src/canvas/wiring";
import { choicesOf, choosing, removing } from "../src/forms/BusForm";
import type { Bus } from "../src/protocol";
import { patch } from "../src/store";
import { block, sheet, wire } from "./samples";

const signal = (name: string, shape = "", unit = "") => ({ name, shape, unit });
const bus = (more: Partial<Bus>): Bus => ({ path: "blocks.b", incoming: [], own: [], signals: [], outputs: [], ...more });
const two = sheet([block("a"), block("c", { x: 200 }), block("d", { x: 200, y: 100 })], [
  wire("a.y", "c.u", { bus: [signal("p")] }), wire("a.y", "d.u", { points: [[80, 30], [80, 130], [200, 130]] }),
]);

describe("a bus is thicker than other wires", () => {
  /** The widths of the bars across, by their heights. */
  const painted = (zoom: number): Map<number, number> => {
    const found = new Map<number, number>();
    const brush = new Proxy({} as CanvasRenderingContext2D, {
      get: (_, what) => (what === "fillRect" ? (_x: number, y: number, width: number, height: number) => width > 100 && found.set(y + height / 2, height) : () => undefined),
      set: () => true,
    });
    const none = { selected: new Set<string>(), chosen: new Set<string>(), moved: new Map(), absent: { blocks: new Set(["a", "c", "d"]), wires: new Set<string>() } };
    finish(painting(brush, sceneOf(two), [{ x: 0, y: 0, width: 400, height: 400 }], zoom, { looks: new Proxy({}, { get: () => ["", ""] }) } as unknown as Colours, none));
    return found;
  };

  it("on the canvas at any zoom, and in pictures", () => {
    for (const zoom of [1, 0.3]) expect(painted(zoom).get(30)! / painted(zoom).get(130)!).toBeGreaterThan(1.3);
    expect(svgOf(two).match(/stroke-width="3.2"/g)).toHaveLength(1);
  });
});

describe("a wire to a creator of buses", () => {
  const at = (type: string, name: string, ports: string[]) => block(name, { type, inputs: ports.map((port) => ({ ...block("x").inputs[0]!, name: port })) });

  it("adds a signal that is named after its source, under a name that is free", () => {
    patch({ sheet: sheet([at("BUS_CREATOR", "bus", ["a", "qm", "*"]), at("BUS_CREATOR", "other", ["*"]), block("plant"), block("a")]) });
    const into = (from: string, port: string) => endsOf({ block: from, port }, { block: "bus", port: "*" });
    expect(into("plant", "um")).toEqual({ source: "plant.um", target: "bus.um" });
    expect(into("plant", "arm.qm")).toEqual({ source: "plant.arm.qm", target: "bus.qm2" });
    expect(into("a", "0")).toEqual({ source: "a", target: "bus.a2" });
    expect(into("other", "*")).toEqual({ source: "other", target: "bus.other" });
    expect(into("plant", "*")).toEqual({ source: "plant.*", target: "bus" });
    expect(endsOf({ block: "plant", port: "um" }, { block: "bus", port: "a" })).toEqual({ source: "plant.um", target: "bus.a" });
  });
});

describe("the forms of buses", () => {
  it("list signals as a tree, and those that are chosen but not there", () => {
    const found = choicesOf([signal("p", "3", "rad"), signal("arm.q"), signal("arm.hand.x")], ["p", "z"]);
    expect(found.map(({ name, note, depth = 0 }) => [name, note, depth])).toEqual([
      ["p", "(3) [rad]", 0], ["arm", "bus", 0], ["arm.q", "", 1], ["arm.hand", "bus", 1], ["arm.hand.x", "", 2], ["z", "not in the bus", 0],
    ]);
    expect(choicesOf([], ["z"])).toEqual([]);
  });

  it("keep the other names of outputs with their signals", () => {
    const chosen = bus({ signals: ["p", "arm.q"], outputs: ["k", "m"] });
    expect(choosing(chosen, ["arm.q", "arm.x", "p"])).toEqual([
      { op: "set", path: "blocks.b.signals", text: "[arm.q, arm.x, p]" }, { op: "set", path: "blocks.b.outputs", text: "[m, x, k]" },
    ]);
    expect(choosing(bus({ signals: ["p"] }), ["q"])).toEqual([{ op: "set", path: "blocks.b.signals", text: "[q]" }]);
  });

  it("take a signal out with its wires, or from the list", () => {
    const wires = [wire("a.0", "b.p"), wire("a.1", "b.arm.q"), wire("c.arm", "d.arm")];
    const cut = (source: string, target: string) => ({ op: "unwire", source, target, within: "" });
    expect(removing("b", bus({ own: ["p", "arm"] }), "arm", [wires[1]!].map((one) => ({ ...one, to: { block: "b", port: "arm.q" } })), "")).toEqual([cut("a.1", "b.arm.q")]);
    expect(removing("b", bus({ own: ["p", "x"], signals: ["p", "x"] }), "p", wires, "")).toEqual([
      cut("a.0", "b.p"), { op: "set", path: "blocks.b.signals", text: "[x]" },
    ]);
    expect(removing("b", bus({ own: ["p", "x"] }), "x", wires, "")).toEqual([{ op: "set", path: "blocks.b.signals", text: "[p]" }]);
    expect(removing("b", bus({ own: ["p"], signals: ["p"] }), "p", [], "")).toEqual([{ op: "unset", path: "blocks.b.signals" }]);
  });
});
