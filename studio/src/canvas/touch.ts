// Fingers on the sheet: one pans and two zoom, where the pointer of a mouse draws a box.

import { type PointerEvent, useState } from "react";
import { flushSync } from "react-dom";

/** Whether a finger came to the sheet last, and what hears what comes to it. */
export function useTouch(): [boolean, (event: PointerEvent) => void] {
  const [touch, setTouch] = useState(false);
  return [touch, ({ pointerType }) => {
    // A finger comes to the sheet just before it presses there, which is to find how a press is taken.
    if ((pointerType === "touch") !== touch) flushSync(() => setTouch(!touch));
  }];
}
