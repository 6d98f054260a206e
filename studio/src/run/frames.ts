// Work for the next frame of the browser: each piece once, however often it is asked for.

const waiting = new Set<(now: number) => void>();
const windows = new Set<Window>();
let asked = false;

export function atNextFrame(work: (now: number) => void): void {
  waiting.add(work);
  if (asked) return;
  asked = true;
  requestAnimationFrame(run);
  for (const other of windows) other.requestAnimationFrame(runOf);
}

export function notAtNextFrame(work: (now: number) => void): void {
  waiting.delete(work);
}

/** Take the frames of another window as well: the page's own may be hidden, and so have none. Returns
 * what ends it. */
export function drawAlsoIn(other: Window): () => void {
  windows.add(other);
  if (asked) other.requestAnimationFrame(runOf);
  return () => windows.delete(other);
}

/** A frame of another window, which has times of its own. */
function runOf(): void {
  run(performance.now());
}

function run(now: number): void {
  if (!asked) return; // another window was first
  asked = false;
  const all = [...waiting];
  waiting.clear();
  for (const work of all) work(now);
}
