/** Scopes and 3-D under the diagram. */
export function BottomPanel() {
  return null;
}
