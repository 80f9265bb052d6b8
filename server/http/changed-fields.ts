// Which fields of a resource an update changes, by value: the order of an object's keys doesn't matter, a list's does.
import { canonicalJson } from '../contract/json.ts';

export function changedFields(before: object, after: object): string[] {
  const was = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after)
    .filter(([name, value]) => canonicalJson(value) !== canonicalJson(was.get(name)))
    .map(([name]) => name);
}
