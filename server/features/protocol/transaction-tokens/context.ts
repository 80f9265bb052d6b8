// The context of a transaction: reading it within bounds, and adding to the context of the token that is replaced. Pure.
// draft-ietf-oauth-transaction-tokens §6.2, §14.13.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../contract/json.ts';
import { OAuthError } from '../../../http/oauth-error.ts';

export type Context = Readonly<Record<string, unknown>>;

const MOST_CHARACTERS = 4_000;
const MOST_VALUES = 200;
const DEEPEST = 6;

function isBounded(value: unknown): boolean {
  const open: [value: unknown, depth: number][] = [[value, 0]];
  let count = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [one, depth] = next;
    count += 1;
    if (count > MOST_VALUES || depth > DEEPEST) return false;
    if (typeof one !== 'object' || one === null) continue;
    for (const [key, item] of Object.entries(one)) {
      if (key === '__proto__') return false;
      open.push([item, depth + 1]);
    }
  }
  return true;
}

/** @throws OAuthError `invalid_request` */
export function contextIn(parameter: string, text: string | undefined): Context {
  if (text === undefined) return {};
  const wrong = new OAuthError('invalid_request', `${parameter} is no JSON object, or too large`);
  if (text.length > MOST_CHARACTERS) throw wrong;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (!isObject(value) || !isBounded(value)) throw wrong;
  return value;
}

/** The context of the replaced token with further fields; none of its own fields changes. @throws OAuthError `invalid_request` */
export function extended(parameter: string, before: unknown, more: Context): Context {
  const own: Context = isObject(before) ? before : {};
  const changed = Object.entries(more).find(
    ([name, value]) => Object.hasOwn(own, name) && !isDeepStrictEqual(own[name], value),
  );
  if (changed) throw new OAuthError('invalid_request', `${parameter} would change the transaction`);
  return { ...more, ...own };
}
