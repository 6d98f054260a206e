// The looks of the editor. Its own rules go into a sheet that scripts make: style elements are barred
// by the page's policy.

import { StyleModule } from "style-mod";

import "./code.css";

const mounted: StyleModule[] = [];
let sheet: CSSStyleSheet | null = null;

StyleModule.mount = (_root, modules) => {
  const all = (Array.isArray(modules) ? modules : [modules]) as StyleModule[];
  const fresh = all.filter((one) => !mounted.includes(one));
  if (fresh.length === 0) return;
  if (!sheet) document.adoptedStyleSheets = [(sheet = new CSSStyleSheet()), ...document.adoptedStyleSheets];
  mounted.push(...fresh);
  // The last of the list are those with which the first are written over.
  sheet.replaceSync(mounted.sort((a, b) => all.indexOf(a) - all.indexOf(b)).map((one) => one.getRules()).join("\n"));
};
