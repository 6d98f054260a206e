// Canvases behind the elements of a large sheet, which show what is not an element. One shows what rests, and
// another one is painted to take its place; the third shows what is being moved, so that a drag paints little.

import { useStoreApi } from "@xyflow/react";
import { useEffect, useLayoutEffect, useRef } from "react";

import { whenAtRest } from "./moving";
import type { Shifted } from "./paint";
import type { Painter } from "./painter";
import type { Scene } from "./scene";
import { isSmall } from "./shown";

const DARK = "(prefers-color-scheme: dark)";

export function Backdrop({ scene, what }: { scene: Scene; what: Shifted }) {
  const store = useStoreApi();
  const home = useRef<HTMLDivElement>(null);
  const painter = useRef<Painter>(null);
  const latest = useRef<[Scene, Shifted]>([scene, what]);
  const small = isSmall(scene);
  useEffect(() => {
    const [one, other, moving] = home.current?.querySelectorAll("canvas") ?? [];
    if (small || !home.current || !one || !other || !moving) return;
    const place = home.current;
    let isGone = false;
    void import("./painter").then(({ Painter }) => {
      if (isGone) return;
      painter.current = new Painter(place, [one, other], moving, () => {
        const { transform: [x, y, zoom], width, height } = store.getState();
        return { x, y, zoom, width, height };
      });
      painter.current.show(...latest.current);
    });
    const look = (): void => painter.current?.look();
    const ends = [store.subscribe(look), whenAtRest(look)];
    const theme = matchMedia(DARK);
    const repaint = (): void => painter.current?.recolour();
    theme.addEventListener("change", repaint);
    return () => {
      isGone = true;
      for (const end of ends) end();
      theme.removeEventListener("change", repaint);
      painter.current?.end();
      painter.current = null;
    };
  }, [small, store]);
  useLayoutEffect(() => {
    latest.current = [scene, what];
    painter.current?.show(scene, what);
  }, [scene, what]);
  return small ? null : <div className="backdrop" aria-hidden="true" ref={home}><canvas /><canvas /><canvas /></div>;
}
