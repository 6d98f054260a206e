export function FormPanel() {
  return <aside className="form-panel" aria-label="Parameters" />;
}
