// The drawing of the diagram: cleaned of anything that acts, with the values at the time cursor in
// the boxes of their blocks.

import { make, setText } from "./dom";
import { valueText } from "./numbers";
import { panZoom } from "./pan_zoom";
import type { Motion, Signal } from "./recording";
import { valuesAt } from "./tracks";

const ACTING = "script, foreignObject, iframe, object, embed, animate, animateTransform, animateMotion, set, handler, listener";
const MOST_VALUES = 3;

/** The drawing as elements that cannot act: no scripts, handlers, links or outside addresses. Null
 * where the text is no SVG. */
export function safeSvg(text: string): SVGSVGElement | null {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const root = parsed.documentElement;
  if (root.localName !== "svg" || parsed.querySelector("parsererror")) {
    return null;
  }
  root.querySelectorAll(ACTING).forEach((element) => element.remove());
  root.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes));
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const { name, value } of [...element.attributes]) {
      const outside = /(^|:)(href|src)$/i.test(name) && !value.trim().startsWith("#");
      if (/^on/i.test(name) || outside || /javascript:/i.test(value)) {
        element.removeAttribute(name);
      }
    }
  }
  return document.importNode(root, true) as unknown as SVGSVGElement;
}

interface Badge {
  signals: Signal[];
  text: SVGTextElement;
  lines: SVGTSpanElement[];
}

export class Diagram {
  readonly element = make("div", {
    class: "diagram",
    role: "group",
    tabindex: 0,
    "aria-label": "The block diagram; plus and minus zoom, arrows shift, 0 shows all of it",
  });
  private badges: Badge[] = [];

  private constructor(private readonly svg: SVGSVGElement, private readonly motion: Motion) {
    // A shadow tree keeps the identifiers of the drawing to itself.
    const shadow = this.element.attachShadow({ mode: "open" });
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.style.cssText = "display:block;width:100%;height:auto;max-height:38vh";
    shadow.append(svg);
    panZoom(svg, this.element);
  }

  /** Null without a drawing. */
  static of(motion: Motion): Diagram | null {
    const svg = motion.diagram ? safeSvg(motion.diagram) : null;
    return svg && new Diagram(svg, motion);
  }

  /** Find the blocks; to be called once the drawing is in the page, where boxes have sizes. */
  label(): void {
    const blocks = new Map<string, SVGGraphicsElement>();
    for (const element of this.svg.querySelectorAll<SVGGraphicsElement>("[id^='block ']")) {
      blocks.set(element.id.slice("block ".length), element);
    }
    const signals = new Map<string, Signal[]>();
    for (const signal of this.motion.signals) {
      const block = blockOf(signal.name, blocks);
      if (block !== null) {
        signals.set(block, [...(signals.get(block) ?? []), signal]);
      }
    }
    this.badges = [...signals].map(([block, own]) => badge(this.svg, blocks.get(block)!, own));
  }

  show(time: number): void {
    for (const { signals, lines } of this.badges) {
      signals.forEach((signal, line) => setText(lines[line]!, signalText(signal, time)));
    }
  }
}

/** The block with the longest name that begins a signal's name. */
export function blockOf(name: string, blocks: { has(name: string): boolean }): string | null {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    if (blocks.has(name.slice(0, end))) {
      return name.slice(0, end);
    }
  }
  return null;
}

function signalText(signal: Signal, time: number): string {
  const port = signal.name.slice(signal.name.lastIndexOf(".") + 1);
  const values = valuesAt(signal.series, time);
  const shown = values.slice(0, MOST_VALUES).map(valueText).join("  ");
  return `${port}  ${shown}${values.length > MOST_VALUES ? " …" : ""}`;
}

function badge(svg: SVGSVGElement, block: SVGGraphicsElement, signals: Signal[]): Badge {
  const space = "http://www.w3.org/2000/svg";
  const { x, y, width, height } = block.getBBox();
  const text = document.createElementNS(space, "text");
  text.setAttribute("style", "font:600 5px system-ui,sans-serif;fill:#1864ab;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:1.6px;font-variant-numeric:tabular-nums");
  const lines = signals.map((_, line) => {
    const span = document.createElementNS(space, "tspan");
    span.setAttribute("x", String(x + width / 2));
    span.setAttribute("y", String(y + height + 6.2 * (line + 1)));
    text.append(span);
    return span;
  });
  block.querySelector("path")?.setAttribute("stroke-width", "1.4");
  svg.append(text);
  return { signals, text, lines };
}
