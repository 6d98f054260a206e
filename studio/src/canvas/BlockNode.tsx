// A block of the sheet: its box, its texts and its ports.

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";

import type { SheetBlock, SheetPort } from "../protocol";
import { useStudio } from "../store";
import { Mark } from "./Mark";
import type { BlockNode as Shown } from "./nodes";

export const BlockNode = memo(function BlockNode({ data }: NodeProps<Shown>) {
  const { block } = data;
  const trial = useStudio(({ trial, sheet }) => trial.find(({ block: path }) => isOf(path, sheet?.at, block.name)));
  const problem = trial ?? block.problems[0];
  return (
    <div className={`block look-${block.look}${problem ? " wrong" : ""}`} title={problem?.message}>
      <Mark look={block.look} />
      <span className="block-name">{block.name}</span>
      <span className="block-type">{block.type}</span>
      {block.caption && <span className="block-caption">{block.caption}</span>}
      {problem && <span className="block-fault" aria-hidden="true">!</span>}
      {block.inputs.map((port) => <Port key={port.name} block={block} port={port} output={false} />)}
      {block.outputs.map((port) => <Port key={port.name} block={block} port={port} output />)}
    </div>
  );
});

function isOf(path: string | undefined, at: string | undefined, name: string): boolean {
  return path === (at ? `${at}/${name}` : name);
}

function Port({ block, port, output }: { block: SheetBlock; port: SheetPort; output: boolean }) {
  const reason = useStudio(({ drawing }) => {
    if (!drawing?.fits || drawing.output === output) return undefined;
    return drawing.fits[`${block.name}.${port.name}`] ?? undefined;
  });
  const state = reason ? "unfit" : port.wired ? "wired" : "open";
  return (
    <>
      <Handle id={port.name} type={output ? "source" : "target"} position={output ? Position.Right : Position.Left}
        className={`port ${state}`} style={{ top: port.offset }} title={reason ?? about(port)} />
      {/^\d+$/.test(port.name) ? null : (
        <span className={`port-name ${output ? "out" : "in"}`} style={{ top: port.offset }}>{port.name}</span>
      )}
    </>
  );
}

function about({ name, shape, unit, doc }: SheetPort): string {
  return [name, shape && `(${shape})`, unit, doc].filter(Boolean).join(" ");
}
