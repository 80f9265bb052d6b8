// HTML of the server as a document that is never shown: nothing of it runs or loads, and its elements can be read or moved.

export const SET_ASIDE = 'data-aside-';
const TAG = /<[a-z](?:[^>"']|"[^"]*"|'[^']*')*>?/gi;
const OBEYED = /([\s/"'])(style|on[a-z]+)(?=\s*=)/gi;
const SHEET = /<(\/?)style\b/gi;
/**
 * Styles and handlers under names that mean nothing. The page's policy forbids them in the parsed document too, and would report
 * each; one that these patterns overlook is reported, and still does nothing. A style element becomes a script element.
 */
const setAside = (html: string): string =>
  html.replaceAll(SHEET, '<$1script').replaceAll(TAG, (tag) => tag.replaceAll(OBEYED, `$1${SET_ASIDE}$2`));

interface Policy {
  createHTML(text: string): string;
}
/** Where the browser asks for trusted types, its parser takes text of a named policy alone. Nothing of the result runs or loads. */
let policy: Policy | undefined;
export function inertDocument(html: string): Document {
  const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } };
  policy ??= trustedTypes?.createPolicy('realmkeeper-mail-preview', { createHTML: (text) => text });
  return new DOMParser().parseFromString(policy?.createHTML(setAside(html)) ?? setAside(html), 'text/html');
}
