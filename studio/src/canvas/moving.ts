// Whether the view is moving. What can wait is done when it rests.

let moving = false;
const waiting = new Set<() => void>();

export function isMoving(): boolean {
  return moving;
}

/** While the view moves it is a layer of its own, which is not painted anew with each step. */
export function setMoving(moves: boolean): void {
  moving = moves;
  document.querySelector(".react-flow__viewport")?.classList.toggle("moving", moves);
  if (!moves) for (const told of waiting) told();
}

/** Call a function whenever the view comes to rest; answers how to end that. */
export function whenAtRest(told: () => void): () => void {
  waiting.add(told);
  return () => waiting.delete(told);
}
