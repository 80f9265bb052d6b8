// Entity tags of single resources, and conditional requests (RFC 9110 §13). A tag is a digest of the wire form.
import { hash } from 'node:crypto';
import { Problem } from '../contract/problem.ts';

/** Checks `If-Match` against the resource as read inside the transaction; throws `precondition-failed`. */
export type Expect = (current: object) => void;

export const etagOf = (wire: object): string => `"${hash('sha256', JSON.stringify(wire), 'base64url').slice(0, 22)}"`;

const tags = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/** Whether a header's list (`*`, `"a", "b"`) names the tag; a weak one as well. */
export const namesTag = (header: string, tag: string): boolean =>
  header.trim() === '*' || tags(header).includes(tag.replace(/^W\//, ''));

export const expectedTag =
  (ifMatch: string | undefined): Expect =>
  (current) => {
    if (ifMatch !== undefined && !namesTag(ifMatch, etagOf(current))) throw new Problem('precondition-failed');
  };
