// Elements of the page, made from names and texts: nothing is ever parsed as HTML.

type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

/** An element with attributes; functions are listeners (`onclick`), true is a bare attribute. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children);
  return element;
}

/** A picture of 16 by 16 units, for buttons. */
export function icon(path: string): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/** A button with a picture; its label is read aloud and shown when the pointer rests. */
export function iconButton(path: string, label: string, onclick: () => void): HTMLButtonElement {
  return make("button", { type: "button", title: label, "aria-label": label, onclick }, icon(path));
}

/** Set a text only where it changes. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}
