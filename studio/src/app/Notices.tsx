import { dismiss, openFile } from "../actions";
import { now, useStudio } from "../store";
import { Tool } from "./Header";
import { Icon } from "./Icon";

/** What has happened, over the page; a conflict stays until it is solved. */
export function Notices() {
  const notices = useStudio((state) => state.notices);
  const conflict = useStudio((state) => state.conflict);
  if (!conflict && notices.length === 0) return null;
  return (
    <section className="notices" aria-label="Notices">
      {conflict && (
        <div className="notice fault" role="alert">
          <Icon name="fault" />
          <p>
            <strong>The file has changed outside and cannot be shown.</strong> {conflict.message}{" "}
            <span className="hint">{conflict.place} {conflict.hint}</span>
          </p>
          <button type="button" onClick={() => void openFile(now().opened?.path ?? "")}>Read it again</button>
        </div>
      )}
      {notices.map(({ id, kind, text, hint }) => (
        <div className={`notice ${kind}`} key={id} role={kind === "fault" ? "alert" : undefined}>
          {kind === "fault" && <Icon name="fault" />}
          <p>{text} <span className="hint">{hint}</span></p>
          <Tool icon="close" name="Close" onClick={() => dismiss(id)} />
        </div>
      ))}
    </section>
  );
}
