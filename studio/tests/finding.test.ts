import { describe, expect, it } from "vitest";

import { finds } from "../src/app/finding";
import { matching } from "../src/canvas/filter";
import type { Content, Field } from "../src/protocol";

const contents: Content[] = [
  { at: "", block: "plant", type: "MULTIBODY", ports: ["taum", "qm"], parameters: { robot: "arm" } },
  { at: "", block: "ctrl", type: "JOINT_PD", ports: ["tau"], parameters: { kp: "$kp", kd: "40" } },
  { at: "arm", block: "modes", type: "STATE_MACHINE", ports: [], parameters: {}, states: { "subsystems.arm.blocks.modes.states.rest": "rest" } },
  { at: "arm/servo", block: "gain", type: "GAIN", ports: [], parameters: { K: "[40, 2]" } },
];
const params: Field[] = [{
  name: "kp", path: "params.kp", doc: "", unit: "", kind: "number", choices: [], lines: false, required: true, default: "", text: "12", tunable: null,
}];

function found(typed: string) {
  return matching(typed, finds(contents, params), ({ name, words = [] }) => [name, ...words]);
}

describe("search", () => {
  it("has blocks before what is inside of others", () => {
    expect(found("plant").map(({ name }) => name)).toEqual(["plant", "plant.taum", "plant.qm", "plant.robot"]);
    expect(found("JOINT_PD").map(({ name }) => name)).toEqual(["ctrl"]);
  });

  it("has a block before a parameter of the same name", () => {
    const both = finds([{ at: "", block: "kp", type: "STEP", ports: [], parameters: {} }], params);
    expect(matching("kp", both, ({ name, words = [] }) => [name, ...words]).map(({ note }) => note)).toEqual(["STEP", "= 12, of the file"]);
  });

  it("finds ports, and goes to their blocks", () => {
    expect(found("plant.qm").map(({ thing }) => thing)).toEqual([{ at: "", block: "plant" }]);
  });

  it("finds parameters and their values, and goes to their fields", () => {
    expect(found("kp").map(({ thing }) => thing)).toEqual([{ at: "", field: "kp" }, { at: "", block: "ctrl", field: "kp" }]);
    expect(found("40").map(({ thing }) => thing)).toEqual([
      { at: "", block: "ctrl", field: "kd" }, { at: "arm/servo", block: "gain", field: "K" },
    ]);
    expect(found("12").map(({ thing }) => thing)).toEqual([{ at: "", field: "kp" }]);
  });

  it("finds states of machines, and goes to them in their chart", () => {
    expect(found("rest")[0]).toMatchObject({
      name: "rest", note: "state of arm/modes", thing: { at: "arm", block: "modes", state: "subsystems.arm.blocks.modes.states.rest" },
    });
  });

  it("has a key of its own for each find", () => {
    const keys = finds(contents, params).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
