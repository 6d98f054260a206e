// Work for the next frame of the browser: each piece once, however often it is asked for.

const waiting = new Set<(now: number) => void>();
let asked = false;

export function atNextFrame(work: (now: number) => void): void {
  waiting.add(work);
  if (asked) return;
  asked = true;
  requestAnimationFrame(run);
}

export function notAtNextFrame(work: (now: number) => void): void {
  waiting.delete(work);
}

function run(now: number): void {
  asked = false;
  const all = [...waiting];
  waiting.clear();
  for (const work of all) work(now);
}
