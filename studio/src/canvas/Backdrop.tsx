// Two canvases behind the elements of a large sheet. They show what is not an element: one what rests,
// the other what is being moved, so that a drag paints little.

import { useStoreApi } from "@xyflow/react";
import { useEffect, useLayoutEffect, useRef } from "react";

import { coloursOf, type Colours, paint, paintMoved, type Shifted } from "./paint";
import type { Scene } from "./scene";
import { isSmall, seenBox, type View } from "./shown";

const DARK = "(prefers-color-scheme: dark)";

export function Backdrop({ scene, what }: { scene: Scene; what: Shifted }) {
  const store = useStoreApi();
  const still = useRef<HTMLCanvasElement>(null);
  const moving = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter>(null);
  const small = isSmall(scene);
  useEffect(() => {
    if (small || !still.current || !moving.current) return;
    const made = new Painter(still.current, moving.current, () => {
      const { transform: [x, y, zoom], width, height } = store.getState();
      return { x, y, zoom, width, height };
    });
    painter.current = made;
    const end = store.subscribe(() => made.look());
    const theme = matchMedia(DARK);
    const repaint = (): void => made.recolour();
    theme.addEventListener("change", repaint);
    return () => {
      end();
      theme.removeEventListener("change", repaint);
      made.end();
      painter.current = null;
    };
  }, [small, store]);
  // After the effect above where both run at once.
  useEffect(() => painter.current?.show(scene, what), [small, scene, what]);
  useLayoutEffect(() => painter.current?.show(scene, what), [scene, what]);
  return small ? null : <div className="backdrop" aria-hidden="true"><canvas ref={still} /><canvas ref={moving} /></div>;
}

/** Paints before the next frame what has changed. */
class Painter {
  private scene: Scene | null = null;
  private what: Shifted | null = null;
  private colours: Colours | null = null;
  private frame = 0;
  private painted: { view: View; scene: Scene; what: Shifted } | null = null;
  /** Whether anything is on the canvases. */
  private filled = [false, false];

  constructor(private still: HTMLCanvasElement, private moving: HTMLCanvasElement, private view: () => View) {}

  show(scene: Scene, what: Shifted): void {
    if (scene === this.scene && what === this.what) return;
    this.scene = scene;
    this.what = what;
    this.request();
  }

  /** The view may have changed. */
  look(): void {
    if (this.painted && isSame(this.painted.view, this.view())) return;
    this.request();
  }

  recolour(): void {
    this.colours = null;
    this.painted = null;
    this.request();
  }

  end(): void {
    cancelAnimationFrame(this.frame);
  }

  private request(): void {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    const { scene, what, painted } = this;
    const view = this.view();
    if (!scene || !what || view.width === 0) return;
    this.colours ??= coloursOf(this.still);
    const colours = this.colours;
    const [box, { zoom }] = [seenBox(view), view];
    const rests = painted?.scene === scene && isSame(painted.view, view) && isLike(painted.what, what);
    if (!rests) this.filled[0] = this.on(this.still, view, this.filled[0]!, (brush) => paint(brush, scene, box, zoom, colours, what));
    if (what.moved.size || this.filled[1]) {
      this.filled[1] = this.on(this.moving, view, this.filled[1]!, (brush) => paintMoved(brush, scene, box, zoom, colours, what));
    }
    this.painted = { view, scene, what };
  }

  /** Clear a canvas, and paint on it in the view. */
  private on(canvas: HTMLCanvasElement, view: View, filled: boolean, paint: (brush: CanvasRenderingContext2D) => boolean): boolean {
    const brush = canvas.getContext("2d");
    if (!brush) return false;
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    else if (filled) {
      brush.setTransform(1, 0, 0, 1, 0, 0);
      brush.clearRect(0, 0, width, height);
    }
    brush.setTransform(ratio * view.zoom, 0, 0, ratio * view.zoom, ratio * view.x, ratio * view.y);
    return paint(brush);
  }
}

function isSame(a: View, b: View): boolean {
  return a.x === b.x && a.y === b.y && a.zoom === b.zoom && a.width === b.width && a.height === b.height;
}

/** Whether what rests is the same. */
function isLike(a: Shifted, b: Shifted): boolean {
  if (a === b) return true;
  const { selected, chosen, absent, moved } = b;
  if (a.selected !== selected || a.chosen !== chosen || a.absent.blocks !== absent.blocks || a.absent.wires !== absent.wires) return false;
  return a.moved.size === moved.size && [...moved.keys()].every((name) => a.moved.has(name));
}
