// The time that scopes, wires and 3-D show: the end of a run that goes on, or a time of its record,
// gone to by hand or played again.

import { advance, type Clock, newClock, seek, togglePlay } from "../../../viewer/src/clock";
import { atNextFrame, notAtNextFrame } from "./frames";

const LONGEST_STEP = 0.25; // s; a page in the background does not leap

export class Timeline {
  private readonly clock: Clock = { ...newClock(0, 0), loop: false };
  private readonly listeners = new Set<() => void>();
  private before: number | null = null;
  /** Whether the time goes with the end of the record. */
  private goesAlong = true;

  get time(): number {
    return this.clock.time;
  }

  get start(): number {
    return this.clock.start;
  }

  get end(): number {
    return this.clock.end;
  }

  get playing(): boolean {
    return this.clock.playing;
  }

  get speed(): number {
    return this.clock.speed;
  }

  get atEnd(): boolean {
    return this.goesAlong;
  }

  /** The record is of this stretch; a new one begins at its end. */
  span(start: number, end: number): void {
    if (start === this.clock.start && end === this.clock.end) return;
    this.clock.start = start;
    this.clock.end = Math.max(start, end);
    seek(this.clock, this.goesAlong ? this.clock.end : this.clock.time);
    this.tell();
  }

  /** Go to a time and stay there. */
  goTo(time: number): void {
    this.clock.playing = false;
    this.goesAlong = false;
    seek(this.clock, time);
    this.tell();
  }

  /** Go to the end of the record, and with it while it grows. */
  goAlong(): void {
    this.clock.playing = false;
    this.goesAlong = true;
    seek(this.clock, this.clock.end);
    this.tell();
  }

  /** Play the record from here, or stop; from its end it begins again. */
  toggle(): void {
    togglePlay(this.clock);
    this.goesAlong = false;
    this.before = null;
    if (this.clock.playing) atNextFrame(this.frame);
    else notAtNextFrame(this.frame);
    this.tell();
  }

  setSpeed(speed: number): void {
    this.clock.speed = speed;
    this.tell();
  }

  /** By a share of the whole. */
  step(share: number): void {
    this.goTo(this.clock.time + share * (this.clock.end - this.clock.start));
  }

  /** Call the listener with each change; returns what ends it. */
  readonly hear = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private readonly frame = (now: number): void => {
    if (!this.clock.playing) return;
    const seconds = this.before === null ? 0 : Math.min((now - this.before) / 1000, LONGEST_STEP);
    this.before = now;
    advance(this.clock, Math.max(seconds, 0));
    this.tell();
    if (this.clock.playing) atNextFrame(this.frame);
  };

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
