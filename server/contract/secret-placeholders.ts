// The placeholders in a message for values by which its reader signs in: nobody else may see the values. Mail programs
// make a link of text that looks like an address, and so send the value to the address's host. Pure.
import { PLACEHOLDER } from './message-drivers.ts';

const SECRETS: ReadonlySet<string> = new Set(['link', 'code']);
export const isSecret = (placeholder: string): boolean => SECRETS.has(placeholder);

/** Matches text before a value that may begin an address: `https://host/?`, `host.example/`, `me@`, another value. */
const OPENS = /[/\\?#@&=%{]|[\p{L}\p{N}]\.[\p{L}\p{N}]/u;
/** Matches text after a value that may continue an address: `.host.example`, `@host.example`, another value. */
const GOES_ON = /^[\p{L}\p{N}_-]*(?:[.@][\p{L}\p{N}]|[.@]?\{)/u;
/** Characters that no address contains (RFC 3986 §2): they end a word. */
const WORD_END = /[\s\p{Z}|<>"^`]/u;
/** Text of this length without such a character counts as an address. */
const LONGEST_WORD = 200;

/** Whether a value between these texts may be part of an address, with which it would be sent to the address's host. */
export function standsInAddress(before: string, after: string): boolean {
  const opening = before.slice(-LONGEST_WORD).split(WORD_END).at(-1) ?? '';
  return opening.length === LONGEST_WORD || OPENS.test(opening) || GOES_ON.test(after.slice(0, LONGEST_WORD));
}

/** The placeholders of a text in order, and whether they may be filled at their place. */
export function placeholdersIn(text: string): { placeholder: string; fits: boolean }[] {
  return [...text.matchAll(PLACEHOLDER)].map(({ 0: whole, 1: placeholder = '', index }) => ({
    placeholder,
    fits: !isSecret(placeholder) || !standsInAddress(text.slice(0, index), text.slice(index + whole.length)),
  }));
}

/** @returns the fault of a text without markup; undefined: it has none */
export function addressFault(text: string): string | undefined {
  const wrong = placeholdersIn(text).find(({ fits }) => !fits);
  return wrong && `has {{${wrong.placeholder}}} in an address: it stands by itself, between spaces`;
}
