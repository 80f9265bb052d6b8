// The effects of a changed flow on users who sign in by it: methods that are removed, steps that become required. Pure.
import { authenticatorIds, type ExecutionDocument, FlowDocument } from '../../../contract/flows.ts';
import type { PlannedChange } from '../../../resource/part.ts';
import { changeEffect, type EffectWords, lockoutEffect, namesForMessage, namesRemoved } from './effect-words.ts';

type Tree = readonly ExecutionDocument[];

/** The authenticators that are actions of a user; the others are conditions. */
const METHODS: ReadonlySet<string> = new Set(authenticatorIds.slice(0, authenticatorIds.indexOf('risk')));

const treeOf = (value: unknown): Tree => FlowDocument.shape.executions.safeParse(value).data ?? [];
const methodOf = ({ authenticatorId }: ExecutionDocument): string[] =>
  authenticatorId !== undefined && METHODS.has(authenticatorId) ? [authenticatorId] : [];

/** The methods of the active steps. */
const methodsIn = (tree: Tree): string[] =>
  tree.flatMap((step) =>
    step.requirement === 'DISABLED' ? [] : [...methodOf(step), ...methodsIn(step.executions ?? [])],
  );

/** The steps that no user can skip: required at the top level, or within required parts. */
const askedOfAll = (tree: Tree): string[] =>
  tree.flatMap((step) =>
    step.requirement === 'REQUIRED' ? [...methodOf(step), ...askedOfAll(step.executions ?? [])] : [],
  );

export function otherSteps({ fields }: PlannedChange): EffectWords[] {
  const found = fields.find(({ path }) => path === 'executions');
  if (!found) return [];
  const [before, after] = [treeOf(found.from), treeOf(found.to)];
  const closed = [...new Set(namesRemoved(methodsIn(before), methodsIn(after)))];
  const more = [...new Set(namesRemoved(askedOfAll(after), askedOfAll(before)))];
  if (closed.length + more.length === 0) return [changeEffect('asks other steps of who signs in by it')];
  return [
    ...(closed.length > 0 ? [lockoutEffect(`nobody signs in by ${namesForMessage(closed)} any more`)] : []),
    ...(more.length > 0 ? [changeEffect(`asks ${namesForMessage(more)} of everybody`)] : []),
  ];
}
