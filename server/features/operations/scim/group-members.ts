// Computes a PATCH's changes of a group's members without reading the members: a group may have a hundred thousand.
// Pure.
import { isUuid } from '../../../crypto/ids.ts';
import { readValue } from './body.ts';
import { scimProblem } from './fault.ts';
import type { Filter } from './filter.ts';
import type { Step } from './patch.ts';
import type { Attribute } from './schema.ts';

export interface Members {
  add: string[];
  /** `others`: all members except those that are added. */
  remove: string[] | 'others';
}

/** @throws Problem `invalidValue` */
export function idsOf(attribute: Attribute, given: unknown): string[] {
  const values = readValue(attribute, given);
  return (Array.isArray(values) ? values : []).map(({ value }) => {
    if (typeof value !== 'string' || !isUuid(value))
      throw scimProblem('invalidValue', `members: ${String(value)} is no user’s id`);
    return value.toLowerCase();
  });
}

/** The ids in `value eq "1" or value eq "2"`. */
function chosen(filter: Filter): string[] {
  if (filter.is === 'or') return filter.of.flatMap(chosen);
  if (filter.is !== 'compare' || filter.op !== 'eq' || filter.path.toLowerCase() !== 'value')
    throw scimProblem('invalidPath', 'Members are chosen by `value eq "…"`');
  return [String(filter.value).toLowerCase()];
}

/** The total change of the steps, applied in order. */
export function membersAfter(steps: readonly Step[]): Members {
  const add = new Set<string>();
  const gone = new Set<string>();
  let others = false;
  for (const { op, attribute, sub, filter, value, path } of steps) {
    if (sub || (filter && op !== 'remove'))
      throw scimProblem('invalidPath', `${path}: members are added and removed whole`);
    const all = op === 'replace' || (op === 'remove' && !filter && (value === undefined || value === null));
    if (all) {
      others = true;
      add.clear();
      gone.clear();
    }
    const ids = filter ? chosen(filter) : op === 'remove' && all ? [] : idsOf(attribute, value);
    const [into, from] = op === 'remove' ? [gone, add] : [add, gone];
    for (const id of ids) {
      into.add(id);
      from.delete(id);
    }
  }
  return { add: [...add], remove: others ? 'others' : [...gone].filter((id) => isUuid(id)) };
}
