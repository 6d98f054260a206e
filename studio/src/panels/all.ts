// All that is loaded when something is first done with panels, in one piece.

export * from "./dragging";
export * from "./moves";
export * from "./reading";
export * from "./windows";
