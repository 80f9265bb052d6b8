// How SCIM clients write what they ask for: names in any case, null for none, numbers as a query's text or as JSON.
import { z } from 'zod';
import { isObject } from './json.ts';

/** Clients write names in any case, and null for an absent value (RFC 7643 §2.1, §2.5). @param nullable names whose null counts */
export const inCase =
  (names: readonly string[], nullable: readonly string[] = []) =>
  (value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .map(([key, one]) => [names.find((name) => name.toLowerCase() === key.toLowerCase()) ?? key, one] as const)
            .filter(([key, one]) => one !== null || nullable.includes(key)),
        )
      : value;

const LARGEST = 1_000_000_000;
/** A number, or a query's digits; an empty text says none. Larger numbers mean all, as `count=2147483647` does. */
export const wholeNumber = z
  .preprocess((given) => {
    if (given === '') return undefined;
    const number = typeof given === 'string' && /^\s*[+-]?\d{1,20}\s*$/.test(given) ? Number(given) : given;
    return typeof number === 'number' ? Math.min(Math.max(number, -LARGEST), LARGEST) : number;
  }, z.int().optional())
  .optional();
