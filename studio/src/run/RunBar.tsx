/** Runs of the open file: start, pause, stop, speed, progress. */
export function RunBar() {
  return <div className="run-bar" role="group" aria-label="Run" />;
}
