// Makes names of Kubernetes objects from names in a realm: valid, the same on every run, never the same for two. A
// realm's name can't contain a dot, so `<realm>.<rest>` distinguishes realms of one namespace. RFC 1123 subdomains.
import { createHash } from 'node:crypto';

/** Leaves room for a prefix and the digest: a Kubernetes name holds 253 characters. */
const LONGEST = 150;
const PLAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** The end of a generated name. A plain name with such an end gets a digest too, so that the two can't collide. */
const MADE = /--[0-9a-f]{10}$/;

/**
 * The name itself if Kubernetes accepts it; otherwise its valid characters and a digest. It depends only on the name, so that
 * a second export gives the same names as the first.
 */
export function label(name: string): string {
  if (PLAIN.test(name) && !MADE.test(name) && name.length <= LONGEST) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 10);
  const rest = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Mark}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replaceAll(/^-+|-+$/g, '');
  return rest === '' ? `x--${digest}` : `${rest}--${digest}`;
}

export const objectName = (realm: string, ...names: readonly string[]): string =>
  [realm, ...names.map(label)].join('.');
