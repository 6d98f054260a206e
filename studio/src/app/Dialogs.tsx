// The windows over a diagram, loaded when the first of them opens.

import { QuickAdd } from "../canvas/QuickAdd";
import { WireDialog } from "../canvas/WireDialog";
import { CompareDialog, ExportDialog, FitDialog, OptimizeDialog, SweepDialog, TuneDialog } from "../jobs/JobDialog";
import { PanelList } from "../panels/PanelList";
import { useStudio } from "../store";
import { KindDialog } from "../kinds/KindDialog";
import { ColourDialog } from "./ColourDialog";
import { GroupDialog } from "./GroupDialog";
import { Help } from "./Help";
import { Menu } from "./Menu";
import { RetypeDialog } from "./RetypeDialog";
import { Search } from "./Search";

const DIALOGS = {
  colour: ColourDialog, help: Help, search: Search, group: GroupDialog, wire: WireDialog, retype: RetypeDialog, kind: KindDialog,
  export: ExportDialog, sweep: SweepDialog, fit: FitDialog, tune: TuneDialog, optimize: OptimizeDialog, compare: CompareDialog, panels: PanelList,
};

export default function Dialogs() {
  const dialog = useStudio((state) => state.dialog);
  const menu = useStudio((state) => state.menu);
  const Shown = dialog && DIALOGS[dialog];
  return (
    <>
      <QuickAdd />
      {menu && <Menu at={menu} />}
      {Shown && <Shown />}
    </>
  );
}
