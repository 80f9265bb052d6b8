// The kinds of grants of other issuers, by the type in their header. A type of another token is none of them, so that no token
// of another purpose counts as a grant. RFC 8725 §3.11.
import { ID_JAG_TYP, JWT_GRANT_TYP } from '../../../contract/token-types.ts';

export type GrantKind = 'id-jag' | 'jwt' | 'untyped';

const kinds: ReadonlyMap<string, GrantKind> = new Map([
  [ID_JAG_TYP, 'id-jag'],
  [JWT_GRANT_TYP, 'jwt'],
  ['jwt', 'untyped'],
  ['', 'untyped'],
]);

/** RFC 7515 §4.1.9: without regard to case, and with or without `application/`. */
export const kindOfGrant = (typ = ''): GrantKind | undefined =>
  kinds.get(typ.toLowerCase().replace(/^application\//, ''));

/** The type in the header of a JWT that is not verified. */
export function typeIn(jwt: string): string | undefined {
  try {
    const { typ } = JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString());
    return typeof typ === 'string' ? typ : undefined;
  } catch {
    return undefined;
  }
}
