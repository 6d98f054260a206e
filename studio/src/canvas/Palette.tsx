export function Palette() {
  return <aside className="palette" aria-label="Blocks to add" />;
}
