import { defineConfig } from "vite";

// Scripts that run by themselves; the pages that hold them are assembled in Python. Each is built by
// its mode: the viewer of a recording, the page that runs a diagram, and that page without robots.
const ENTRIES: Record<string, string> = {
  viewer: "src/main.ts",
  live: "src/live/main.ts",
  flat: "src/live/flat.ts",
};

export default defineConfig(({ mode }) => {
  const name = mode in ENTRIES ? mode : "viewer";
  return {
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      lib: { entry: ENTRIES[name]!, formats: ["iife"], name: "spartViewer", fileName: () => `${name}.js` },
      outDir: "dist",
      emptyOutDir: false,
      target: "es2022",
      license: { fileName: "licenses.txt" },
    },
    worker: { format: "iife" },
  };
});
