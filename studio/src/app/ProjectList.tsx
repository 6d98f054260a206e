// The first page: the project's diagrams.

import { useState } from "react";

import { openFile } from "../actions";
import type { ProjectDiagram } from "../protocol";
import { useStudio } from "../store";
import { matching } from "../canvas/filter";
import { NewDiagram } from "./NewDiagram";

export function ProjectList() {
  const project = useStudio((state) => state.project);
  const [filter, setFilter] = useState("");
  const [making, setMaking] = useState(false);
  if (!project) return null;
  const shown = matching(filter, project.diagrams, ({ name, path, description }) => [name, path, description]);
  return (
    <main className="project">
      <h1>{project.name}</h1>
      <div className="project-tools">
        <input type="search" value={filter} placeholder="Filter" aria-label="Filter diagrams" autoFocus
          onChange={(event) => setFilter(event.target.value)} />
        <button type="button" onClick={() => setMaking(true)}>New diagram</button>
      </div>
      {making && <NewDiagram onClose={() => setMaking(false)} />}
      <ul className="cards">
        {shown.map((diagram) => <Card key={diagram.path} diagram={diagram} />)}
      </ul>
      {shown.length === 0 && (
        <p>{filter ? "No diagram has this in its name, path or description." : "There are no diagrams yet: make the first one with New diagram."}</p>
      )}
    </main>
  );
}

function Card({ diagram }: { diagram: ProjectDiagram }) {
  const { path, name, description, blocks, problem } = diagram;
  return (
    <li>
      <button type="button" className="card" onClick={() => void openFile(path)}>
        <img src={`/thumbnail?path=${encodeURIComponent(path)}`} alt="" loading="lazy" />
        <strong>{name}</strong>
        <span className="path">{path}</span>
        <span className="description">{problem ? `⚠ ${problem}` : description}</span>
        <span className="count">{blocks} blocks</span>
      </button>
    </li>
  );
}
