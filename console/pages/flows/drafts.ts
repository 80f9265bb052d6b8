// Edits that are not saved yet stay while the reader looks at another page of the console. They are dropped when the saved flow has
// changed meanwhile, and with the tab.
import type { Tree } from './tree-model.ts';

const drafts = new Map<string, { etag: string | undefined; steps: Tree }>();
const keyOf = (realm: string, alias: string): string => `${realm}/${alias}`;

export function draftOf(realm: string, alias: string, etag: string | undefined): Tree | undefined {
  const draft = drafts.get(keyOf(realm, alias));
  return draft && draft.etag === etag ? draft.steps : undefined;
}

/** @param steps undefined: nothing is edited */
export function keepDraft(realm: string, alias: string, etag: string | undefined, steps: Tree | undefined): void {
  if (steps === undefined) drafts.delete(keyOf(realm, alias));
  else drafts.set(keyOf(realm, alias), { etag, steps });
}
