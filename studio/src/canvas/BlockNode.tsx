// A block of the sheet: its box, its texts and its ports.

import { Handle, type NodeProps } from "@xyflow/react";
import { memo } from "react";

import type { SheetBlock, SheetPort } from "../protocol";
import { type Drawing, patch, useStudio } from "../store";
import { fillForm, renameBlock } from "./commands";
import { isUpright, sideOf } from "./facing";
import { Face } from "./Face";
import { hasFace, isTelling } from "./faces";
import { Mark } from "./Mark";
import type { BlockNode as Shown } from "./nodes";
import { ScopeFace } from "./ScopeFace";
import { reasonAgainst } from "./wiring";

export const BlockNode = memo(function BlockNode({ data }: NodeProps<Shown>) {
  const { block } = data;
  const trial = useStudio(({ trial, sheet }) => trial.find(({ block: path }) => isOf(path, sheet?.at, block.name)));
  const onto = useStudio((state) => state.onto === block.name);
  const problem = trial ?? block.problems[0];
  return (
    <div className={`block ${toneOf(block)}${problem ? " wrong" : ""}${onto ? " onto" : ""}`} title={problem?.message ?? block.type} style={aside(block)}>
      <Name block={block} />
      {!isTelling(block) && <span className="block-type">{block.type}</span>}
      <Mark look={block.look} />
      {hasFace(block) && (block.face.glyph === "scope" ? <ScopeFace name={block.name} /> : <Face face={block.face} />)}
      {problem && <span className="block-fault" aria-hidden="true">!</span>}
      {block.inputs.map((port) => <Port key={port.name} block={block} port={port} output={false} />)}
      {block.outputs.map((port) => <Port key={port.name} block={block} port={port} output />)}
    </div>
  );
});

/** The classes of a block's colours. */
function toneOf({ look, colour }: SheetBlock): string {
  return colour ? `look-${look} tint-${colour}` : `look-${look}`;
}

/** The room beside the ports, so that name and face lie between their texts. */
function aside({ centre, width }: SheetBlock) {
  const off = 2 * centre - width;
  return { paddingLeft: Math.max(off, 0), paddingRight: Math.max(-off, 0) };
}

/** The block's name, or the field in which it is changed. */
function Name({ block: { name, named } }: { block: SheetBlock }) {
  const renaming = useStudio((state) => state.renaming === name);
  if (!renaming && !named) return null;
  if (!renaming) return <span className="block-name">{name}</span>;
  return (
    <input className="block-name nodrag nopan" aria-label={`New name of ${name}`} defaultValue={name} autoFocus spellCheck={false}
      onFocus={(event) => event.target.select()} onBlur={(event) => void renameBlock(name, event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") patch({ renaming: null });
        if (event.key !== "Tab" || event.shiftKey) return;
        event.preventDefault();
        void renameBlock(name, event.currentTarget.value.trim()).then(fillForm);
      }} />
  );
}

function isOf(path: string | undefined, at: string | undefined, name: string): boolean {
  return path === (at ? `${at}/${name}` : name);
}

function Port({ block, port, output }: { block: SheetBlock; port: SheetPort; output: boolean }) {
  const reason = useStudio(({ drawing }) => whyNot(drawing, block.name, port.name, output));
  const state = reason ? "unfit" : reason === null ? "fit" : port.wired ? "wired" : "open";
  const side = sideOf(block.facing, output);
  const style = isUpright(block.facing) ? { left: port.offset } : { top: port.offset };
  return (
    <>
      <Handle id={port.name} type={output ? "source" : "target"} position={side} className={`port ${state}${port.bus ? " bus" : ""}`} style={style}
        title={reason ?? about(port)} />
      {port.label && <span className={`port-name at-${side}`} style={style}>{port.label}</span>}
    </>
  );
}

/** While a wire is drawn: null where it fits, else why not; undefined for ports at rest. */
function whyNot(drawing: Drawing | null, block: string, port: string, output: boolean): string | null | undefined {
  if (!drawing?.fits) return undefined;
  if (drawing.output !== output) return reasonAgainst(drawing, block, port) ?? null;
  return drawing.block === block && drawing.port === port ? undefined : "a wire leads from an output to an input";
}

function about({ name, shape, unit, doc }: SheetPort): string {
  return [name, shape && `(${shape})`, unit, doc].filter(Boolean).join(" ");
}
