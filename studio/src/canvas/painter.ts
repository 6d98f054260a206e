// Paints the sheet behind the elements of the page. While the view moves, the picture that is there is moved
// and scaled along with it, and painted anew in parts of a few milliseconds, so that no frame is late.

import { isMoving } from "./moving";
import { coloursOf, type Colours, finish, painting, paintMoved, type Shifted, type Steps } from "./paint";
import { changedBoxes, type Drawn } from "./painted";
import type { Box } from "./geometry";
import type { Scene } from "./scene";
import { seenBox, type View } from "./shown";

/** A canvas, and what is painted on it. margin: around the view [px of the screen]. */
interface Picture extends Drawn {
  canvas: HTMLCanvasElement;
  view: View;
  margin: number;
  box: Box;
  steps: Steps;
  /** Whether its colours are not those of the page any more. */
  isStale?: boolean;
}

/** The time for painting in a frame while the view moves, and while it rests [ms]. */
const [BUSY, CALM] = [5, 24];
/** Painted around what is seen [px of the screen]. */
const MARGIN = 220;

export class Painter {
  private scene: Scene | null = null;
  private what: Shifted | null = null;
  private colours: Colours | null = null;
  private frame = 0;
  /** What is shown, and what is being painted to be shown next. */
  private front: Picture | null = null;
  private next: Picture | null = null;
  /** Whether anything is on the canvas of what is being moved. */
  private filled = false;

  /** still: two canvases, of which one is shown; moving: for what is being moved. */
  constructor(
    private home: HTMLElement, private still: readonly [HTMLCanvasElement, HTMLCanvasElement], private moving: HTMLCanvasElement,
    private view: () => View,
  ) {}

  show(scene: Scene, what: Shifted): void {
    if (scene === this.scene && what === this.what) return;
    this.scene = scene;
    this.what = what;
    this.request();
  }

  /** The view may have changed. */
  look(): void {
    if (!this.front || !isSame(this.front.view, this.view())) this.request();
  }

  recolour(): void {
    this.colours = null;
    this.next = null;
    if (this.front) this.front.isStale = true;
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
    const { scene, what } = this;
    const view = this.view();
    if (!scene || !what || view.width === 0) return;
    const colours = (this.colours ??= coloursOf(this.home));
    if (this.front) this.mend(this.front, scene, what, colours);
    if (this.next && !isFit(this.next, view)) this.next = null;
    if (!this.next && !(this.front && this.isFresh(this.front, view))) this.next = this.begin(view, scene, what, colours);
    if (this.next && this.advance(this.next)) this.turn(this.next, scene, what, colours);
    if (this.front) put(this.front, view);
    const isWhole = this.front !== null && this.isFresh(this.front, view);
    if (what.moved.size || (this.filled && isWhole)) this.paintMoving(view, scene, what, colours);
    if (isWhole !== ("whole" in this.home.dataset)) this.home.toggleAttribute("data-whole", isWhole);
    if (this.next) this.request();
  }

  /** Paint anew what differs from what is there. */
  private mend(picture: Picture, scene: Scene, what: Shifted, colours: Colours): void {
    if (picture.scene === scene && picture.what === what) return;
    const boxes = changedBoxes(picture, { scene, what }, picture.view.zoom);
    if (!boxes) return;
    const brush = picture.canvas.getContext("2d");
    const seen = boxes.filter((box) => isWithin(box, picture.box));
    if (brush && seen.length) {
      const cut = clip(brush, seen, picture);
      finish(painting(brush, scene, cut, picture.view.zoom, colours, what));
      brush.restore();
    }
    [picture.scene, picture.what] = [scene, what];
  }

  /** Whether a picture is the one of a view. */
  private isFresh(picture: Picture, view: View): boolean {
    return !picture.isStale && picture.scene === this.scene && picture.what === this.what && isFit(picture, view)
      && picture.view.zoom === view.zoom && isWithin(seenBox(view), picture.box, true);
  }

  private begin(view: View, scene: Scene, what: Shifted, colours: Colours): Picture | null {
    const canvas = this.still.find((one) => one !== this.front?.canvas)!;
    const brush = canvas.getContext("2d", { willReadFrequently: true });
    if (!brush) return null;
    const ratio = devicePixelRatio;
    const [width, height] = sizeOf(view, MARGIN);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.setTransform(ratio * view.zoom, 0, 0, ratio * view.zoom, ratio * (view.x + MARGIN), ratio * (view.y + MARGIN));
    const box = seenBox(view, MARGIN);
    return { canvas, view, margin: MARGIN, box, scene, what, steps: painting(brush, scene, [box], view.zoom, colours, what) };
  }

  /** Paint for a while; answers whether all is painted. */
  private advance({ steps }: Picture): boolean {
    const until = performance.now() + (isMoving() ? BUSY : CALM);
    do if (steps.next().done) return true;
    while (performance.now() < until);
    return false;
  }

  /** Show what has been painted, unless the sheet has become another one meanwhile. */
  private turn(picture: Picture, scene: Scene, what: Shifted, colours: Colours): void {
    this.mend(picture, scene, what, colours);
    this.next = null;
    if (picture.scene !== scene || picture.what !== what) return this.request();
    for (const canvas of this.still) canvas.style.display = canvas === picture.canvas ? "" : "none";
    this.front = picture;
    if (!this.isFresh(picture, this.view())) this.request();
  }

  private paintMoving(view: View, scene: Scene, what: Shifted, colours: Colours): void {
    const brush = this.moving.getContext("2d");
    if (!brush) return;
    const ratio = devicePixelRatio;
    const [width, height] = sizeOf(view, 0);
    if (this.moving.width !== width || this.moving.height !== height) [this.moving.width, this.moving.height] = [width, height];
    else if (this.filled) {
      brush.setTransform(1, 0, 0, 1, 0, 0);
      brush.clearRect(0, 0, width, height);
    }
    brush.setTransform(ratio * view.zoom, 0, 0, ratio * view.zoom, ratio * view.x, ratio * view.y);
    this.filled = paintMoved(brush, scene, seenBox(view), view.zoom, colours, what);
  }
}

/** The size of a canvas for a view [px of the canvas]. */
function sizeOf({ width, height }: View, margin: number): [number, number] {
  return [Math.round((width + 2 * margin) * devicePixelRatio), Math.round((height + 2 * margin) * devicePixelRatio)];
}

/** Whether a picture has the size that a view needs. */
function isFit({ canvas, margin }: Picture, view: View): boolean {
  const [width, height] = sizeOf(view, margin);
  return canvas.width === width && canvas.height === height;
}

/** Put a picture to where a view shows what is painted on it. */
function put({ canvas, view: from, margin }: Picture, view: View): void {
  const scale = view.zoom / from.zoom;
  const [x, y] = [view.x - (from.x + margin) * scale, view.y - (from.y + margin) * scale];
  const style = `translate(${x}px, ${y}px) scale(${scale})`;
  if (canvas.style.transform === style) return;
  canvas.style.transform = style;
  canvas.style.width = `${canvas.width / devicePixelRatio}px`;
}

/** Clear boxes, and let only them be painted; answers them in whole pixels of the canvas. */
function clip(brush: CanvasRenderingContext2D, boxes: readonly Box[], { canvas, view, margin }: Picture): Box[] {
  const scale = devicePixelRatio * view.zoom;
  const [dx, dy] = [devicePixelRatio * (view.x + margin), devicePixelRatio * (view.y + margin)];
  brush.save();
  brush.setTransform(1, 0, 0, 1, 0, 0);
  brush.beginPath();
  const cut = boxes.map((box): Box => {
    const [left, top] = [Math.max(0, Math.floor(box.x * scale + dx)), Math.max(0, Math.floor(box.y * scale + dy))];
    const right = Math.min(canvas.width, Math.ceil((box.x + box.width) * scale + dx));
    const bottom = Math.min(canvas.height, Math.ceil((box.y + box.height) * scale + dy));
    brush.clearRect(left, top, right - left, bottom - top);
    brush.rect(left, top, right - left, bottom - top);
    return { x: (left - dx) / scale, y: (top - dy) / scale, width: (right - left) / scale, height: (bottom - top) / scale };
  });
  brush.clip();
  brush.setTransform(scale, 0, 0, scale, dx, dy);
  return cut;
}

function isSame(a: View, b: View): boolean {
  return a.x === b.x && a.y === b.y && a.zoom === b.zoom && a.width === b.width && a.height === b.height;
}

/** Whether a part of a box, or all of it, is in another one. */
function isWithin(a: Box, b: Box, whole = false): boolean {
  if (!whole) return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  const slack = 1e-6 * (b.width + b.height);
  return a.x >= b.x - slack && a.y >= b.y - slack && a.x + a.width <= b.x + b.width + slack && a.y + a.height <= b.y + b.height + slack;
}
