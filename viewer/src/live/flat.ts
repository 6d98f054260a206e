// The page that runs, of a diagram without robots: its drawing takes their place.

import { open } from "./page";

void open(document.getElementById("app")!, null);
