// Canvases behind the elements of a large sheet, which show what is not an element. One shows what rests, and
// another one is painted to take its place; the third shows what is being moved, so that a drag paints little.

import { useStoreApi } from "@xyflow/react";
import { useEffect, useLayoutEffect, useRef } from "react";

import { whenAtRest } from "./moving";
import type { Shifted } from "./paint";
import { Painter } from "./painter";
import type { Scene } from "./scene";
import { isSmall } from "./shown";

const DARK = "(prefers-color-scheme: dark)";

export function Backdrop({ scene, what }: { scene: Scene; what: Shifted }) {
  const store = useStoreApi();
  const home = useRef<HTMLDivElement>(null);
  const painter = useRef<Painter>(null);
  const small = isSmall(scene);
  useEffect(() => {
    const [one, other, moving] = home.current?.querySelectorAll("canvas") ?? [];
    if (small || !home.current || !one || !other || !moving) return;
    const made = new Painter(home.current, [one, other], moving, () => {
      const { transform: [x, y, zoom], width, height } = store.getState();
      return { x, y, zoom, width, height };
    });
    painter.current = made;
    const look = (): void => made.look();
    const ends = [store.subscribe(look), whenAtRest(look)];
    const theme = matchMedia(DARK);
    const repaint = (): void => made.recolour();
    theme.addEventListener("change", repaint);
    return () => {
      for (const end of ends) end();
      theme.removeEventListener("change", repaint);
      made.end();
      painter.current = null;
    };
  }, [small, store]);
  // After the effect above where both run at once.
  useEffect(() => painter.current?.show(scene, what), [small, scene, what]);
  useLayoutEffect(() => painter.current?.show(scene, what), [scene, what]);
  return small ? null : <div className="backdrop" aria-hidden="true" ref={home}><canvas /><canvas /><canvas /></div>;
}
