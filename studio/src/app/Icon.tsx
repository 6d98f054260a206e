// Small pictures, drawn with lines of the text's colour.

const PATHS = {
  home: "M3 8l5-5 5 5M4.5 7v6h7V7",
  undo: "M6 3L3 6l3 3M3 6h6a4 4 0 010 8H6",
  redo: "M10 3l3 3-3 3M13 6H7a4 4 0 000 8h3",
  search: "M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.5 10.5L14 14",
  code: "M5.5 4L2 8l3.5 4M10.5 4L14 8l-3.5 4",
  window: "M9.5 2.5h4v4M13.5 2.5L9 7M6.5 13.5h-4v-4M2.5 13.5L7 9",
  help: "M5.5 6a2.5 2.5 0 113.6 2.2C8.3 8.7 8 9 8 10M8 12.5v.6",
  rename: "M3 13l.6-3L11 2.6 13.4 5 6 12.4z",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  tidy: "M2 3h4v4H2zM10 3h4v4h-4zM10 10h4v4h-4zM6 5h4M8 5v7h2",
  picture: "M2 3h12v10H2zM2 11l4-4 3 3 2-2 3 3",
  enter: "M8 3v8M4.5 7.5L8 11l3.5-3.5M3 14h10",
  about: "M8 7v5M8 4v.6",
  export: "M8 2v8M4.5 6.5L8 10l3.5-3.5M2.5 11v3h11v-3",
  fault: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.3v.6",
  left: "M3 2v12M6 4h7v3H6zM6 9h4v3H6z",
  centre: "M8 1.5v13M4 4h8v3H4zM5.5 9h5v3h-5z",
  right: "M13 2v12M3 4h7v3H3zM6 9h4v3H6z",
  top: "M2 3h12M4 6v7h3V6zM9 6v4h3V6z",
  middle: "M1.5 8h13M4 4v8h3V4zM9 5.5v5h3v-5z",
  bottom: "M2 13h12M4 3v7h3V3zM9 6v4h3V6z",
  across: "M2 2v12M14 2v12M6 5h4v6H6z",
  down: "M2 2h12M2 14h12M5 6h6v4H5z",
  more: "M8 3v.1M8 8v.1M8 13v.1",
  grow: "M3 6V3h3M13 10v3h-3M3 3l4 4M13 13L9 9",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
