import "@xyflow/react/dist/base.css";
import "./style.css";

import { createRoot } from "react-dom/client";

import { start } from "./actions";
import { App } from "./app/App";
import { Boundary } from "./app/Boundary";

createRoot(document.getElementById("studio") as HTMLElement).render(<Boundary><App /></Boundary>);
start();
