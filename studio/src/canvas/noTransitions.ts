// In place of d3-transition and d3-interpolate in the built page. React Flow moves its view by
// d3-zoom, which could also glide there; nothing here does, and the page is 5 kB smaller without.

import { selection } from "d3-selection";

(selection.prototype as unknown as { interrupt(): unknown }).interrupt = function () {
  return this;
};

export const interrupt = (): void => undefined;

/** Asked for, and called only while something glides. */
export const interpolate = null;
export const interpolateZoom = null;
