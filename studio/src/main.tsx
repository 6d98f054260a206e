import { createRoot } from "react-dom/client";

createRoot(document.getElementById("studio") as HTMLElement).render(<p>spart studio</p>);
