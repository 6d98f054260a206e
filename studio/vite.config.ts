import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";

import { defineConfig, type Plugin } from "vite";

const GLIDES_NOT = "/src/canvas/noTransitions.ts";

/** Beside each script and style, what is sent of it to browsers that take it compressed. */
const compressed: Plugin = {
  name: "compressed",
  writeBundle({ dir = "" }) {
    for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
      if (/\.(js|css)$/.test(name)) writeFileSync(join(dir, `${name}.br`), brotliCompressSync(readFileSync(join(dir, name))));
    }
  },
};

// A page and its parts: what draws robots in 3-D is loaded when it is first looked at.
export default defineConfig({
  base: "/page/",
  plugins: [compressed],
  build: {
    outDir: "dist",
    target: "es2022",
    license: { fileName: "licenses.txt" },
    // Parts that are loaded later find their scripts by themselves; the page need not list them.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, needed, { hostType }) => (hostType === "html" ? needed : needed.filter((name) => name.endsWith(".css"))),
    },
  },
  resolve: {
    dedupe: ["three"],
    alias: { "d3-transition": GLIDES_NOT, "d3-interpolate": GLIDES_NOT },
  },
});
