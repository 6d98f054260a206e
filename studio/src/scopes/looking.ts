// Which part of time scopes show, changed by hand. All scopes of a page show the same.

import type { Looking } from "../run/runs";
import type { View } from "./thinning";

const SHORTEST = 1e-9;

/** Nearer (below 1) or farther (above 1), about a time that stays where it is. */
export function zoomed(looking: Looking, view: View, whole: View, factor: number, about: number): Looking {
  if (looking.how === "follow") return { how: "follow", seconds: Math.max(looking.seconds * factor, SHORTEST) };
  const [from, to] = view;
  const fixed = about >= from && about <= to ? about : (from + to) / 2;
  const next: View = [Math.max(fixed - (fixed - from) * factor, whole[0]), Math.min(fixed + (to - fixed) * factor, whole[1])];
  if (next[1] - next[0] < SHORTEST) return looking;
  return next[0] <= whole[0] && next[1] >= whole[1] ? { how: "whole" } : { how: "part", view: next };
}

/** By a share of what is shown, later or earlier. */
export function shifted(view: View, whole: View, share: number): Looking {
  const wide = view[1] - view[0];
  const from = Math.min(Math.max(view[0] + share * wide, whole[0]), Math.max(whole[1] - wide, whole[0]));
  return { how: "part", view: [from, from + wide] };
}
