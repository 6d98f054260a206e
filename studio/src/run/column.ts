// One number of a signal over time, with the extremes of its parts: those of any stretch are found
// without reading every row of it.

import { Growing } from "./growing";

const PER_BLOCK = 16;

/** Lowest and highest of each PER_BLOCK entries of the level below. */
interface Level {
  low: Growing;
  high: Growing;
}

export interface Extremes {
  low: number;
  high: number;
}

export class Column {
  readonly values = new Growing();
  private readonly levels: Level[] = [];

  /** Add a value; what is not finite is a gap. */
  push(given: number): void {
    const value = Number.isFinite(given) ? given : NaN;
    this.values.push(value);
    let [low, high] = [value, value];
    for (let size = PER_BLOCK, k = 0; ; size *= PER_BLOCK, k++) {
      const level = this.levels[k] ?? this.begin(k);
      const block = Math.floor((this.values.length - 1) / size);
      if (level.low.length > block) {
        low = lower(level.low.at(block), low);
        high = higher(level.high.at(block), high);
        level.low.set(block, low);
        level.high.set(block, high);
      } else {
        level.low.push(low);
        level.high.push(high);
      }
      if (this.values.length <= size) return;
    }
  }

  /** As many rows without a value. */
  pad(count: number): void {
    for (let row = 0; row < count; row++) this.push(NaN);
  }

  /** The extremes of the rows from `from` to before `to`; NaN where there are no numbers. */
  extremes(from: number, to: number): Extremes {
    const found = { low: NaN, high: NaN };
    this.gather(Math.max(from, 0), Math.min(to, this.values.length), -1, found);
    return found;
  }

  /** Entries of a level (-1: the rows themselves), by larger blocks where they are whole. */
  private gather(from: number, to: number, k: number, found: Extremes): void {
    const first = Math.ceil(from / PER_BLOCK);
    const last = Math.floor(to / PER_BLOCK);
    if (first >= last || !this.levels[k + 1]) {
      this.read(from, to, k, found);
      return;
    }
    this.read(from, first * PER_BLOCK, k, found);
    this.read(last * PER_BLOCK, to, k, found);
    this.gather(first, last, k + 1, found);
  }

  private read(from: number, to: number, k: number, found: Extremes): void {
    const lows = k < 0 ? this.values : this.levels[k]!.low;
    const highs = k < 0 ? this.values : this.levels[k]!.high;
    for (let at = from; at < to; at++) {
      found.low = lower(found.low, lows.at(at));
      found.high = higher(found.high, highs.at(at));
    }
  }

  /** A new level, with what the one below has so far. */
  private begin(k: number): Level {
    const level = { low: new Growing(), high: new Growing() };
    const below = this.levels[k - 1];
    if (below && below.low.length > 1) {
      const found = { low: NaN, high: NaN };
      this.read(0, below.low.length - 1, k - 1, found);
      level.low.push(found.low);
      level.high.push(found.high);
    }
    this.levels.push(level);
    return level;
  }
}

/** The lower of two numbers, of which NaN is none. */
function lower(one: number, other: number): number {
  return other < one || one !== one ? other : one;
}

function higher(one: number, other: number): number {
  return other > one || one !== one ? other : one;
}
