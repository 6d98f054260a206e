// Claims as texts and as operations on the file, and what a test says of them.

import { fromYaml, toYaml } from "../forms/yaml";
import type { Claim, ClaimKind, Field, Finding, Operation, Test, TestCase } from "../protocol";

export type Texts = Readonly<Record<string, string>>;

/** The operations that add a claim. */
export function adding(kind: ClaimKind, texts: Texts): Operation[] {
  const given = kind.fields.filter(({ name }) => texts[name]?.trim());
  const entries = given.map((field) => `${field.name}: ${valueOf(field, texts[field.name]!)}`);
  if (kind.several) return [{ op: "append", path: `expect.${kind.kind}`, text: `{${entries.join(", ")}}` }];
  const text = entries.length ? `{${entries.join(", ")}}` : "true";
  return [{ op: "set", path: `expect.${kind.kind}`, text }];
}

/** The operations that give the values of a claim other texts; an empty text removes a value. */
export function changing({ path, fields }: Claim, texts: Texts): Operation[] {
  const changed = fields.filter((field) => (texts[field.name] ?? "").trim() !== plainOf(field));
  const written = fields.some(({ text }) => text !== null);
  if (!written) { // the whole entry is empty, or `true`
    const given = changed.map((field) => `${field.name}: ${valueOf(field, texts[field.name]!)}`);
    return given.length ? [{ op: "set", path, text: `{${given.join(", ")}}` }] : [];
  }
  return changed.map((field): Operation => {
    const text = texts[field.name]?.trim() ?? "";
    return text ? { op: "set", path: field.path, text: valueOf(field, text) } : { op: "unset", path: field.path };
  });
}

/** The operations that remove a claim, and its list with the last one of it. */
export function removing({ path, kind }: Claim, all: readonly Claim[]): Operation[] {
  const last = all.filter((claim) => claim.kind === kind).length === 1;
  return [{ op: "unset", path: last ? `expect.${kind}` : path }];
}

/** What the fields of a claim show. */
export function textsOf(fields: readonly Field[]): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field.name, plainOf(field)]));
}

const isText = ({ name, kind }: Field): boolean => name === "signal" || kind === "text" || kind === "choice";

function valueOf(field: Field, text: string): string {
  return isText(field) ? toYaml(text.trim()) : text.trim();
}

function plainOf(field: Field): string {
  if (field.text === null) return "";
  return isText(field) ? fromYaml(field.text) : field.text;
}

/** A claim in words: "to 0.5, within 0.01 rad, by 3 s". */
export function wordsOf({ fields, unit }: Claim): string {
  return fields
    .filter((field) => field.text !== null && field.name !== "signal")
    .map((field) => [field.name, plainOf(field), unitOf(field, unit)].filter(Boolean).join(" "))
    .join(", ");
}

const OF_THE_SIGNAL = ["to", "within", "low", "high", "limit", "value"];

/** The unit of a field of a claim about a signal of this unit. */
export function unitOf(field: Field, unit: string): string {
  const own = field.unit && `[${field.unit}]`;
  return own || (OF_THE_SIGNAL.includes(field.name) && unit ? bracketed(unit) : "");
}

function bracketed(unit: string): string {
  return unit.startsWith("[") ? unit : `[${unit}]`;
}

// --- what a test says --------------------------------------------------------------------------

export type Verdict = "passed" | "failed" | "warned" | "changes" | "recorded" | "unjudged";
export type Found = Finding & { case: string };

export interface Judged {
  verdict: Verdict;
  /** What it rests on: what has failed, or everything. */
  findings: Found[];
}

/** What the last test says of a claim, in all its cases. */
export function judged({ key, kind }: Pick<Claim, "key" | "kind">, test: Test | null): Judged {
  const all = findingsOf(test).filter((finding) => finding.key === key);
  for (const verdict of ["failed", "warned"] as const) {
    const findings = all.filter((finding) => finding.verdict === verdict);
    if (findings.length) return { verdict, findings };
  }
  const changes = kind === "baseline" ? (test?.cases ?? []).flatMap(({ change }) => change ?? []) : [];
  if (changes.length) return { verdict: changes.every(({ written }) => written) ? "recorded" : "changes", findings: [] };
  return { verdict: all.length ? "passed" : "unjudged", findings: all };
}

/** What was found that is of no claim in the list: audited plants, and runs that failed. */
export function others(claims: readonly Claim[], test: Test | null): Found[] {
  const known = new Set(claims.map(({ key }) => key));
  return findingsOf(test).filter(({ key, verdict, kind }) => !known.has(key) && (verdict === "failed" || kind === "audit"));
}

function findingsOf(test: Test | null): Found[] {
  const cases = test?.cases ?? [];
  const label = ({ name }: TestCase): string => (cases.length > 1 ? name : "");
  return cases.flatMap((one) => one.findings.map((finding) => ({ ...finding, case: label(one) })));
}

/** How a test stands, in a sentence. stale: the file has changed since. */
export function summary(test: Test, stale: boolean): string {
  const { state, cases } = test;
  if (state === "running") return cases.length ? `testing ${test.running}` : "testing";
  if (state === "stopped") return "The test was stopped.";
  if (state === "failed") return `The test could not go on: ${test.problem?.message ?? ""}`;
  const failed = cases.filter(({ passed }) => !passed).length;
  const what = cases.length === 1 ? "The diagram" : `${cases.length - failed} of ${cases.length} variants`;
  const word = cases.length > 1 || !failed ? "passed" : "failed";
  return `${what} ${word}${stale ? ", as it was before the last change" : ""}.`;
}
