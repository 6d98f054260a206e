// Changes of the scopes of a page: which there are and what they show. The file is not changed.

import type { ScopeOf } from "./lines";

type Scopes = readonly ScopeOf[];

export function withScope(scopes: Scopes, signals: readonly string[] = []): ScopeOf[] {
  const id = 1 + Math.max(0, ...scopes.map((scope) => scope.id));
  return [...scopes, { id, title: "", signals, hidden: [] }];
}

export function withoutScope(scopes: Scopes, id: number): ScopeOf[] {
  return scopes.filter((scope) => scope.id !== id);
}

/** Show a signal in a scope, or no longer. */
export function toggleSignal(scopes: Scopes, id: number, name: string): ScopeOf[] {
  return scopes.map((scope) => (scope.id === id ? { ...scope, signals: toggled(scope.signals, name) } : scope));
}

/** Draw a line of a scope, or no longer; its legend stays. */
export function toggleLine(scopes: Scopes, id: number, key: string): ScopeOf[] {
  return scopes.map((scope) => (scope.id === id ? { ...scope, hidden: toggled(scope.hidden, key) } : scope));
}

/** What a scope is called: its title, or its signals. */
export function titleOf({ title, signals }: ScopeOf): string {
  return title || signals.join(", ") || "Empty scope";
}

function toggled(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
}

/** The signals whose name has all words of a search, those that begin with it first; of parameters
 * also those of blocks that use them. */
export function found<Named extends { name: string; used?: readonly string[] }>(signals: readonly Named[], search: string): Named[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = signals.filter(({ name, used = [] }) => words.every((word) => [name, ...used].join(" ").toLowerCase().includes(word)));
  const begins = ({ name }: Named): boolean => name.toLowerCase().startsWith(words[0] ?? "");
  return [...fits.filter(begins), ...fits.filter((one) => !begins(one))];
}
