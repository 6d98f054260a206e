// A drawing that is looked at closer: Ctrl with the wheel zooms, dragging shifts, a double click
// goes in and out; and the same by keys while it has the focus.

const NEAREST = 12;
const STEP = 1.25;

/** Let an SVG with a viewBox be zoomed and shifted. host: the element that takes the keys. */
export function panZoom(svg: SVGSVGElement, host: HTMLElement): void {
  const { x, y, width, height } = svg.viewBox.baseVal;
  const whole = { x, y, width, height };
  let view = whole;
  const set = (next: typeof whole): void => {
    view = next.width > 0.999 * whole.width ? whole : next;
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  };
  /** Make it `factor` times as large about a point of the drawing. */
  const zoom = (factor: number, at: { x: number; y: number }): void => {
    const now = whole.width / view.width;
    const share = now / Math.min(Math.max(now * factor, 1), NEAREST);
    set({
      x: at.x + (view.x - at.x) * share,
      y: at.y + (view.y - at.y) * share,
      width: view.width * share,
      height: view.height * share,
    });
  };
  const shift = (right: number, down: number): void => {
    set({ ...view, x: view.x + right, y: view.y + down });
  };
  const pointOf = ({ clientX, clientY }: MouseEvent): DOMPoint => {
    return new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM()!.inverse());
  };
  svg.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(Math.exp(-0.002 * event.deltaY), pointOf(event));
    }
  });
  svg.addEventListener("dblclick", (event) => (view === whole ? zoom(3, pointOf(event)) : set(whole)));
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons & 1 && view !== whole) {
      const scale = svg.getScreenCTM()!.a;
      shift(-event.movementX / scale, -event.movementY / scale);
    }
  });
  const middle = (): { x: number; y: number } => {
    return { x: view.x + view.width / 2, y: view.y + view.height / 2 };
  };
  host.addEventListener("keydown", (event) => {
    const part = 0.1 * view.width;
    const actions: Record<string, () => void> = {
      "+": () => zoom(STEP, middle()),
      "=": () => zoom(STEP, middle()),
      "-": () => zoom(1 / STEP, middle()),
      "0": () => set(whole),
      ArrowLeft: () => shift(-part, 0),
      ArrowRight: () => shift(part, 0),
      ArrowUp: () => shift(0, -part),
      ArrowDown: () => shift(0, part),
    };
    const action = actions[event.key];
    if (action && (view !== whole || !event.key.startsWith("Arrow"))) {
      action();
      event.preventDefault();
      event.stopPropagation();
    }
  });
}
