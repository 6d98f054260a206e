import { type ReactNode, useLayoutEffect, useRef } from "react";

interface Props {
  name: string;
  onClose: () => void;
  /** Its corner on the page; in the middle without. */
  at?: readonly [x: number, y: number];
  className?: string;
  children: ReactNode;
}

const ROOM = { width: 400, height: 380 };

/** A window over the page; Escape and a click beside it close it, and the focus goes back. */
export function Dialog({ name, onClose, at, className = "", children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => { // before those of what is in it, which may put the focus
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const style = at && {
    margin: 0,
    left: Math.max(8, Math.min(at[0], innerWidth - ROOM.width)),
    top: Math.max(8, Math.min(at[1], innerHeight - ROOM.height)),
  };
  return (
    <dialog ref={ref} aria-label={name} className={className} style={style}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onClick={(event) => event.target === ref.current && onClose()}>
      {children}
    </dialog>
  );
}
