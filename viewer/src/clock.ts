// The one time of the page: what is playing, how fast, and who is told.

export const SLOWEST = 0.1;
export const FASTEST = 10;

export interface Clock {
  start: number;
  end: number;
  time: number;
  playing: boolean;
  /** Seconds of the motion in one second. */
  speed: number;
  loop: boolean;
}

export function newClock(start: number, end: number): Clock {
  return { start, end, time: start, playing: false, speed: 1, loop: true };
}

/** Go to a time, at most to either end. */
export function seek(clock: Clock, time: number): void {
  if (Number.isFinite(time)) {
    clock.time = Math.min(Math.max(time, clock.start), clock.end);
  }
}

/** Let real seconds pass: at the end the clock starts again or stops. */
export function advance(clock: Clock, seconds: number): void {
  if (!clock.playing) {
    return;
  }
  const span = clock.end - clock.start;
  const time = clock.time + seconds * clock.speed;
  if (time < clock.end) {
    clock.time = time;
  } else if (clock.loop && span > 0) {
    clock.time = clock.start + ((time - clock.start) % span);
  } else {
    clock.time = clock.end;
    clock.playing = false;
  }
}

/** Start or stop; from the end it starts again. */
export function togglePlay(clock: Clock): void {
  clock.playing = !clock.playing && clock.end > clock.start;
  if (clock.playing && clock.time >= clock.end) {
    clock.time = clock.start;
  }
}

const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10];

/** The next speed of the list, faster (1) or slower (-1). */
export function nextSpeed(speed: number, way: 1 | -1): number {
  const other = SPEEDS.filter((one) => (way > 0 ? one > speed * 1.001 : one < speed * 0.999));
  return (way > 0 ? other[0] : other.at(-1)) ?? speed;
}

/** A time as text, with as many decimals as a cursor can tell over the whole span. */
export function timeText(time: number, span: number): string {
  return `${time.toFixed(decimalsOf(span))} s`;
}

function decimalsOf(span: number): number {
  if (!(span > 0)) {
    return 2;
  }
  return Math.min(Math.max(Math.ceil(3 - Math.log10(span)), 1), 9);
}
