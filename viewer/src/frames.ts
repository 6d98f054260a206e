/** With each frame of the browser, the seconds since the last one. */
export function eachFrame(frame: (seconds: number) => void): void {
  let before = performance.now();
  const next = (now: number): void => {
    frame(Math.min(Math.max(now - before, 0) / 1000, 0.25)); // a page in the background does not leap
    before = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}
