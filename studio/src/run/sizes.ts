// Sizes of elements that may move to another window: each window watches those in it.

const movers = new Set<() => void>();

/** Call the listener with each change of an element's size; returns what ends it. */
export function hearSize(element: Element, listener: () => void): () => void {
  let end = (): void => undefined;
  const begin = (): void => {
    end();
    const Observer = (element.ownerDocument.defaultView ?? window).ResizeObserver;
    const observer = new Observer(listener);
    observer.observe(element);
    end = () => observer.disconnect();
  };
  begin();
  const endMoves = hearMoves(begin);
  return () => {
    endMoves();
    end();
  };
}

/** Call the listener when elements have come into another window; returns what ends it. */
export function hearMoves(listener: () => void): () => void {
  movers.add(listener);
  return () => movers.delete(listener);
}

/** Elements have come into another window. */
export function haveMoved(): void {
  for (const begin of movers) begin();
}
