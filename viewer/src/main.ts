import { Quaternion, Vector3 } from "three";

import { newClock, seek } from "./clock";
import { type Pose, readMotion, type Recording } from "./recording";
import { bodyNodes, placeBodies } from "./scene";

declare global {
  interface Window {
    spartRecording?: Recording;
    spart?: Api;
  }
}

/** What a page that embeds the viewer, and tests, may use. */
interface Api {
  readonly time: number;
  seek(time: number): void;
  /** Where the scene has each body, in world axes. */
  poses(): Record<string, Pose>;
}

function mount(app: HTMLElement, recording: Recording): Api {
  const motion = readMotion(recording);
  const clock = newClock(motion.start, motion.end);
  const nodes = bodyNodes(motion);
  const show = (): void => {
    placeBodies(nodes, clock.time);
    app.textContent = `${motion.name}, t = ${clock.time} s`;
  };
  show();
  return {
    get time() {
      return clock.time;
    },
    seek(time) {
      seek(clock, time);
      show();
    },
    poses: () =>
      Object.fromEntries(
        nodes.map(({ body, node }) => {
          const p = node.getWorldPosition(new Vector3());
          const q = node.getWorldQuaternion(new Quaternion());
          return [body.name, [p.x, p.y, p.z, q.x, q.y, q.z, q.w]];
        }),
      ),
  };
}

window.spart = mount(document.getElementById("app")!, window.spartRecording!);
