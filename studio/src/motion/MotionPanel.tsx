// The robots in three dimensions, and pushing them. What draws them is loaded when it is first
// looked at.

import { useEffect, useRef, useState } from "react";

import type { Recording } from "../../../viewer/src/recording";
import { notify } from "../actions";
import { hearPoses, useRun } from "../run/book";
import { atNextFrame } from "../run/frames";
import { isOver, type Runs } from "../run/runs";
import { hearMoves } from "../run/sizes";
import { Refused } from "../socket";
import { connection, useStudio } from "../store";
import "./motion.css";
import type { Player } from "./player";
import { PushForm } from "./PushForm";
import type { Force } from "./push";

declare global {
  interface Window {
    /** What tests may use. */
    spart?: Pick<Player, "poses" | "places">;
  }
}

export function MotionPanel({ runs }: { runs: Runs }) {
  const host = useRef<HTMLDivElement>(null);
  const { player, problem } = usePlayer(runs, host);
  const run = useRun(runs);
  const going = run !== undefined && !isOver(run);
  return (
    <div className="motion">
      {player?.draws && <PushBar runs={runs} player={player} going={going} />}
      <div className="motion-stage" ref={host} />
      {problem && <p className="panel-empty" role="status">{problem}</p>}
      {!player && !problem && <p className="panel-empty">Loading…</p>}
    </div>
  );
}

/** The player of the run that is shown, or why there is none. */
function usePlayer(runs: Runs, host: React.RefObject<HTMLDivElement | null>): { player: Player | null; problem: string | null } {
  const [player, setPlayer] = useState<Player | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const made = useRef<Player | null>(null);
  const run = useRun(runs);
  const number = run?.run ?? null;
  const over = run !== undefined && isOver(run);
  const revision = useStudio((state) => (number === null ? state.opened?.revision : ""));
  useEffect(() => () => {
    made.current?.dispose();
    made.current = null;
    setPlayer(null);
  }, [runs, host]);
  useEffect(() => {
    if (made.current && number !== null && !over) return; // its poses come
    let stale = false;
    const asked = connection.ask("motion", { path: runs.path, run: over ? number : null }) as Promise<Recording>;
    Promise.all([import("./player"), asked]).then(
      ([{ Player }, recording]) => {
        if (stale || !host.current) return;
        setProblem(null);
        if (number === null || !made.current?.take(recording)) { // the robots of a run stay as they are looked at
          made.current?.dispose();
          made.current = window.spart = new Player(host.current, recording, (force) => push(runs.path, force), { atNextFrame, hearMoves });
          setPlayer(made.current);
        }
        made.current.show(runs.timeline.time);
      },
      (error: unknown) => !stale && setProblem(error instanceof Refused ? error.problem.message : String(error)),
    );
    return () => void (stale = true);
  }, [runs, host, number, over, revision]);
  useEffect(() => {
    if (!player) return;
    const show = (): void => player.show(runs.timeline.time);
    const ends = [
      runs.timeline.hear(() => atNextFrame(show)),
      hearPoses((header, numbers) => {
        if (header.path === runs.path && header.run === number) player.append(header.rows, numbers);
      }),
    ];
    return () => ends.forEach((end) => end());
  }, [player, runs, number]);
  return { player, problem };
}

function push(path: string, force: Force): Promise<unknown> {
  return connection.ask("push", { path, ...force });
}

function PushBar({ runs, player, going }: { runs: Runs; player: Player; going: boolean }) {
  const [active, setActive] = useState(false);
  const [stiffness, setStiffness] = useState(() => Number(player.pushing.stiffness.toPrecision(3)));
  useEffect(() => {
    player.pushing.active = active && going;
  }, [player, active, going]);
  return (
    <div className="motion-tools" role="toolbar" aria-label="Pushing">
      <button type="button" aria-pressed={active} disabled={!going} title={going ? "Drag a body to push it" : "Bodies can be pushed while a run goes on"}
        onClick={() => setActive(!active)}>
        Push by dragging
      </button>
      <label>
        <input type="number" min="0" step="any" aria-label="Force of a drag of one metre" value={stiffness}
          onChange={({ target }) => {
            setStiffness(target.valueAsNumber);
            if (target.valueAsNumber >= 0) player.pushing.stiffness = target.valueAsNumber;
          }} /> N per m
      </label>
      <PushForm bodies={player.bodies} going={going} onPush={(force) => void push(runs.path, force).catch(tellWhy)} />
    </div>
  );
}

function tellWhy(error: unknown): void {
  notify(error instanceof Refused ? error.problem.message : String(error), "fault");
}
