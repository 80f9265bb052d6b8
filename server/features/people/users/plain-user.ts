// A quick check of a user in a realm document, at a fifth of the schema's cost. It accepts only users that are certainly
// valid, which are almost all of a hundred thousand; the schema validates the others. It may reject a valid user, never
// accept an invalid one. Specification 2.10; the schema is UserDocument in contract/users.ts.

import { isEmail } from '../../../contract/email.ts';
import { isObject } from '../../../contract/json.ts';
import type { UserDocument } from '../../../contract/users.ts';

type Look = (value: unknown) => boolean;

const text = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length <= max && !value.includes('\0');
/** Visible letters, digits and a few signs. The schema knows which others a name may contain. */
const PLAIN_NAME = /^[[\p{L}\p{N}._@+\-]--\p{Default_Ignorable_Code_Point}]+$/v;
const name = (value: unknown): boolean => typeof value === 'string' && value.length <= 255 && PLAIN_NAME.test(value);
const flag: Look = (value) => typeof value === 'boolean';
const words: Look = (value) => value === null || text(value, 255);

const values: Look = (value) => Array.isArray(value) && value.length <= 100 && value.every((one) => text(one, 4096));
function attributes(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const key in value) if (!name(key) || !values(value[key])) return false;
  return true;
}

/** The fields that nearly all users have. A user with any other field is left to the schema. */
const looks = new Map<string, Look>([
  ['username', name],
  ['email', (value) => value === null || (typeof value === 'string' && /^[!-~]+$/.test(value) && isEmail(value))],
  ['emailVerified', flag],
  ['firstName', words],
  ['lastName', words],
  ['enabled', flag],
  ['attributes', attributes],
]);

/** @param value a value of JSON.parse */
export function isPlainUser(value: unknown): value is UserDocument {
  if (!isObject(value) || value.username === undefined) return false;
  for (const field in value) if (!looks.get(field)?.(value[field])) return false;
  return true;
}
