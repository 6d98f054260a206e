// The windows over a diagram, loaded when the first of them opens.

import { QuickAdd } from "../canvas/QuickAdd";
import { WireDialog } from "../canvas/WireDialog";
import { useStudio } from "../store";
import { KindDialog } from "../kinds/KindDialog";
import { GroupDialog } from "./GroupDialog";
import { Help } from "./Help";
import { RetypeDialog } from "./RetypeDialog";
import { Search } from "./Search";

const DIALOGS = { help: Help, search: Search, group: GroupDialog, wire: WireDialog, retype: RetypeDialog, kind: KindDialog };

export default function Dialogs() {
  const dialog = useStudio((state) => state.dialog);
  const Shown = dialog && DIALOGS[dialog];
  return (
    <>
      <QuickAdd />
      {Shown && <Shown />}
    </>
  );
}
