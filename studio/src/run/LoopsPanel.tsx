// Loops of `spart realtime` on this machine: one is watched at a time.

import { useEffect, useState } from "react";

import { attempt } from "../actions";
import type { Loop } from "../protocol";
import { connection } from "../store";
import { useLoop } from "./book";
import { attach, detach } from "./loops";

export function LoopsPanel() {
  const watched = useLoop();
  const [loops, setLoops] = useState<readonly Loop[] | null>(null);
  const list = (): void => void attempt(() => connection.ask("loops")).then(setLoops);
  useEffect(list, []);
  return (
    <div className="panel-page">
      <div className="panel-tools">
        <button type="button" onClick={list}>Look again</button>
        <span className="note">Loops that spart realtime runs on this machine.</span>
      </div>
      {loops?.length === 0 && <p className="note">None runs: start one with spart realtime FILE.</p>}
      <table>
        <tbody>
          {loops?.map((loop) => (
            <tr key={`${loop.name} ${loop.pid}`}>
              <th scope="row">{loop.name}</th>
              <td>{loop.diagram}</td>
              <td className="note">{`process ${loop.pid}`}</td>
              <td>
                {loop.name === watched
                  ? <button type="button" onClick={() => void detach()}>Detach</button>
                  : <button type="button" onClick={() => void attach(loop.name)}>Watch</button>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
