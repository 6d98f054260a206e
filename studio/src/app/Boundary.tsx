import { Component, type ReactNode } from "react";

/** Shows a fault of the page itself in place of an empty page. The diagram's file is not touched by it. */
export class Boundary extends Component<{ children: ReactNode }, { fault: Error | null }> {
  override state = { fault: null as Error | null };

  static getDerivedStateFromError(fault: Error): { fault: Error } {
    return { fault };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return (
      <main className="project" role="alert">
        <h1>The page has a fault</h1>
        <p>{fault.message}</p>
        <button type="button" onClick={() => location.reload()}>Load it again</button>
      </main>
    );
  }
}
