import { describe, expect, it } from "vitest";

import { advance, newClock, nextSpeed, seek, timeText, togglePlay } from "../src/clock";

describe("clock", () => {
  it("runs at its speed while it plays", () => {
    const clock = newClock(1, 5);
    advance(clock, 1);
    expect(clock.time).toBe(1);
    togglePlay(clock);
    clock.speed = 0.5;
    advance(clock, 2);
    expect(clock.time).toBe(2);
  });

  it("starts again at the end, or stops there", () => {
    const clock = { ...newClock(0, 4), playing: true, time: 3 };
    advance(clock, 2);
    expect(clock.time).toBe(1);
    clock.loop = false;
    advance(clock, 9);
    expect([clock.time, clock.playing]).toEqual([4, false]);
    togglePlay(clock);
    expect([clock.time, clock.playing]).toEqual([0, true]);
  });

  it("stays within its ends", () => {
    const clock = newClock(0, 4);
    for (const [to, want] of [[-1, 0], [9, 4], [2, 2], [NaN, 2]] as const) {
      seek(clock, to);
      expect(clock.time).toBe(want);
    }
  });

  it("does not play a single moment", () => {
    const clock = newClock(2, 2);
    togglePlay(clock);
    expect(clock.playing).toBe(false);
  });

  it("goes through the speeds", () => {
    expect([nextSpeed(1, 1), nextSpeed(1, -1), nextSpeed(10, 1), nextSpeed(0.1, -1)]).toEqual([2, 0.5, 10, 0.1]);
  });

  it("writes times as finely as the span needs", () => {
    expect([timeText(1.23456, 10), timeText(1.23456, 600), timeText(1e-4, 1e-3)]).toEqual([
      "1.23 s",
      "1.2 s",
      "0.000100 s",
    ]);
  });
});
