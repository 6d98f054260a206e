// In place of d3-color in the built page. React Flow moves its view by d3-transition, which could
// also fade colours; nothing here does, and the page is 4 kB smaller without.

export const color = (): null => null;
export { color as cubehelix, color as gray, color as hcl, color as hsl, color as lab, color as lch, color as rgb };
