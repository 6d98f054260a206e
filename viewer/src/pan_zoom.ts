// A drawing that is looked at closer: the wheel zooms, dragging shifts, a double click resets.

/** Let an SVG with a viewBox be zoomed and shifted. */
export function panZoom(svg: SVGSVGElement): void {
  const { x, y, width, height } = svg.viewBox.baseVal;
  const whole = { x, y, width, height };
  let view = { ...whole };
  const set = (): void => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const zoom = (factor: number, clientX: number, clientY: number): void => {
    const limited = Math.min(Math.max(factor, whole.width / 12 / view.width), whole.width / view.width);
    const at = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM()!.inverse());
    view = {
      x: at.x + (view.x - at.x) * limited,
      y: at.y + (view.y - at.y) * limited,
      width: view.width * limited,
      height: view.height * limited,
    };
    view = view.width > 0.999 * whole.width ? { ...whole } : view;
    set();
  };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(0.0015 * event.deltaY), event.clientX, event.clientY);
  });
  svg.addEventListener("dblclick", () => {
    view = { ...whole };
    set();
  });
  svg.addEventListener("pointerdown", (event) => svg.setPointerCapture(event.pointerId));
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) {
      const scale = 1 / svg.getScreenCTM()!.a;
      view = { ...view, x: view.x - event.movementX * scale, y: view.y - event.movementY * scale };
      set();
    }
  });
}
