// The claims of a diagram, judged by the readings of a run.

import { make, setText } from "../dom";
import { valueText } from "../numbers";
import type { Claim } from "./data";
import type { Run } from "./program";

/** Where the readings of an element stand among those of its meter (see meters.h). */
const ANY = 0, FIRST = 1, LAST = 2, LEAST = 3, MOST = 5;
const BACK = 1, REACHED = 3, GOT = 4;
const STEPPED = 4, BEGIN = 5, START = 6, FINAL = 7, LOW = 8, HIGH = 9, LEFT = 10, OUTSIDE = 11, PEAK = 12, ERROR = 13;
/** The reading of a meter that a sweep shows of a claim; none of those that come of several. */
export const SHOWN: Partial<Record<Claim["judged"], [what: string, at: number]>> = {
  extremes: ["greatest", MOST],
  last: ["last", LAST],
  extent: ["greatest", MOST],
  back: ["longest way back", BACK],
};
/** A response whose distance at first is below this part of its largest error has no step. */
const LEAST_STEP = 1e-3;

export interface Verdict {
  held: boolean;
  /** What was found. */
  text: string;
}

/** Whether a run fulfils a claim. */
export function judge(claim: Claim, { meters, ending, reason }: Run): Verdict {
  if (ending === "failed" || ending === "refused") {
    return { held: false, text: reason };
  }
  const found = claim.at.map((at, k) => element(claim, meters.subarray(at), k));
  const worst = found.find(({ held }) => !held) ?? found[0];
  return worst ?? { held: false, text: "no step" };
}

function element(claim: Claim, meter: Float64Array, k: number): Verdict {
  const low = claim.low[k] ?? -Infinity;
  const high = claim.high[k] ?? Infinity;
  const within = (value: number): boolean => low <= value && value <= high;
  const at = (index: number): number => meter[index]!;
  switch (claim.judged) {
    case "extremes": {
      const [least, most] = [at(LEAST), at(MOST)];
      const text = least === most ? valueText(least) : `${valueText(least)} to ${valueText(most)}`;
      return { held: at(ANY) > 0 && within(least) && within(most), text: at(ANY) > 0 ? text : "no time of it was reached" };
    }
    case "last":
      return { held: at(ANY) > 0 && within(at(LAST)), text: valueText(at(LAST)) };
    case "extent": {
      const extent = Math.max(at(MOST), at(FIRST)) - Math.min(at(LEAST), at(FIRST));
      return { held: within(extent), text: `ranges over ${valueText(extent)}` };
    }
    case "back": {
      const back = claim.falls ? at(GOT) - at(REACHED) : at(REACHED) - at(GOT);
      return { held: back <= high, text: `goes back by ${valueText(Math.max(at(BACK), 0))}` };
    }
    default: {
      const value = answer(claim.judged, at);
      return { held: value <= high, text: Number.isNaN(value) ? "no step" : valueText(value) };
    }
  }
}

function answer(kind: "rise_time" | "settling_time" | "overshoot", at: (index: number) => number): number {
  const change = Math.abs(at(FINAL) - at(START));
  if (at(STEPPED) === 0 || change === 0 || change <= LEAST_STEP * at(ERROR)) {
    return NaN;
  }
  const found = {
    rise_time: at(HIGH) - at(LOW),
    settling_time: at(OUTSIDE) > 0 ? NaN : Number.isNaN(at(LEFT)) ? 0 : at(LEFT) - at(BEGIN),
    overshoot: 100 * Math.max(at(PEAK) - 1, 0),
  }[kind];
  return Number.isNaN(found) ? Infinity : found; // the run ended before
}

/** The claims with their verdicts. */
export class ClaimsList {
  readonly element = make("ul", { class: "claims" });
  private readonly rows: { mark: HTMLElement; found: HTMLElement; row: HTMLElement }[];

  constructor(private readonly claims: readonly Claim[]) {
    this.rows = claims.map(({ name }) => {
      const [mark, found] = [make("span", { class: "mark" }), make("output")];
      const row = make("li", {}, mark, ` ${name} `, found);
      this.element.append(row);
      return { mark, found, row };
    });
  }

  show(run: Run): void {
    this.claims.forEach((claim, index) => {
      const { held, text } = judge(claim, run);
      const { mark, found, row } = this.rows[index]!;
      setText(mark, held ? "✓" : "✗");
      mark.setAttribute("aria-label", held ? "holds" : "does not hold");
      mark.setAttribute("role", "img");
      setText(found, text);
      row.className = held ? "held" : "missed";
    });
  }
}
