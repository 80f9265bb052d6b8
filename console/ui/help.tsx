// Descriptions of the contract as a form shows them. They are written for JSON: "null" is an empty field here, "true" is on.
import { Fragment } from 'react';

const words: readonly [RegExp, string][] = [
  [/\bnull:/g, 'empty:'],
  [/\btrue:/g, 'on:'],
  [/\bfalse:/g, 'off:'],
  [/\bdefault false\b/g, 'default off'],
  [/\bdefault true\b/g, 'default on'],
  [/^oidc\b/g, 'OIDC'],
  [/^saml\b/g, 'SAML'],
];

/** With a sentence's capital and period, and what stands between backticks as code. */
export function Help({ text }: { text: string }) {
  let said = text;
  for (const [from, to] of words) said = said.replaceAll(from, to);
  said = said.charAt(0).toUpperCase() + said.slice(1);
  if (!/[.!?)]$/.test(said)) said += '.';
  return said.split('`').map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text
    <Fragment key={at}>{at % 2 === 1 ? <code>{part}</code> : part}</Fragment>
  ));
}
