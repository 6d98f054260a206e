import { defineConfig } from "vite";

// A page and its parts: what draws robots in 3-D is loaded when it is first looked at.
export default defineConfig({
  base: "/page/",
  build: {
    outDir: "dist",
    target: "es2022",
    license: { fileName: "licenses.txt" },
    modulePreload: { polyfill: false },
  },
  resolve: {
    dedupe: ["three"],
    alias: { "d3-color": "/src/canvas/noColours.ts" },
  },
});
