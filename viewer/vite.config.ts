import { defineConfig } from "vite";

// One file that runs by itself. The page that holds it is assembled in Python.
export default defineConfig({
  build: {
    lib: { entry: "src/main.ts", formats: ["iife"], name: "spartViewer", fileName: () => "viewer.js" },
    outDir: "dist",
    target: "es2022",
    license: { fileName: "licenses.txt" },
  },
});
