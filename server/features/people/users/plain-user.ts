// A look at a user in a realm document that tells, at a fifth of the schema's price, who is plainly right: of a hundred
// thousand almost everybody. Whoever isn't is the schema's to judge, so this may doubt a right one, never pass a wrong one.
// Specification 2.10; the schema is UserDocument in contract/users.ts.

import { z } from 'zod';
import { isObject } from '../../../contract/json.ts';
import type { UserDocument } from '../../../contract/users.ts';

type Look = (value: unknown) => boolean;

const text = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length <= max && !value.includes('\0');
/** Only letters that show, digits and a few signs: which others a name may have is the schema's to know. */
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

/** Fields that nearly everybody has; with any other one asks the schema. */
const looks = new Map<string, Look>([
  ['username', name],
  ['email', (value) => value === null || (text(value, 254) && z.regexes.email.test(String(value)))],
  ['emailVerified', flag],
  ['firstName', words],
  ['lastName', words],
  ['enabled', flag],
  ['attributes', attributes],
]);

/** @param value as JSON.parse gives it */
export function isPlainUser(value: unknown): value is UserDocument {
  if (!isObject(value) || value.username === undefined) return false;
  for (const field in value) if (!looks.get(field)?.(value[field])) return false;
  return true;
}
