// The diagrams of the project, which a page that was opened with a file has not asked for yet.

import { useEffect } from "react";

import { attempt } from "../actions";
import type { Project } from "../protocol";
import { connection, patch, useStudio } from "../store";

const NONE: Project["diagrams"] = [];

export function useDiagrams(): Project["diagrams"] {
  const found = useStudio(({ project }) => project?.diagrams);
  useEffect(() => {
    if (!found) void attempt(() => connection.ask("project")).then((project) => project && patch({ project }));
  }, [found]);
  return found ?? NONE;
}
