// The `sub` of tokens: computes a user's `sub` at a client, and finds the user of a token. No other file does either. If `sub` isn't the
// user's id, the token also holds the id, sealed: the server then finds the user without a query, and issued tokens keep working when the
// strategy changes. Decisions "Subject claim"; OpenID Connect Core §2, §8.1.
import { createHmac, randomBytes } from 'node:crypto';
import { PERSON_CLAIM } from '../contract/claims.ts';
import { loopbackHosts } from '../contract/names.ts';
import type { RealmSettingsDto } from '../contract/settings.ts';
import type { Seal } from '../crypto/seal.ts';
import { createRealmCache } from '../db/cache.ts';
import type { Sql } from '../db/sql.ts';

/** The constraint that prevents two users, or a user and a client, from having the same subject. */
export const SUBJECT_TAKEN = 'realm_user_subject';

/** Binds a realm's sealed salt to it. */
export const saltContext = (realm: string) => `subject-salt:${realm}`;

/** The claims of a token that name its user. */
export interface Subject {
  sub: string;
  [PERSON_CLAIM]?: string;
}
/** The claims of a received token from which its user is found. */
interface Said {
  sub: string;
  [PERSON_CLAIM]?: unknown;
}
/** The client that gets the `sub`. */
export interface Audience {
  subjectType: 'public' | 'pairwise' | null;
  /** Clients of one sector know a person by the same pairwise subject. */
  sector: string;
}
export type SubjectSettings = Pick<RealmSettingsDto, 'subjectStrategy' | 'subjectAttribute'>;

/** Whether the token is a user's: it has a grant, a service account's has none. A client's id in `sub` may look like a user's id. */
export const isPersons = ({ gid }: { gid?: unknown }): boolean => gid !== undefined;

/** The subject types for discovery and registration. An attribute's value is a public subject: the same at every client. */
export const subjectTypes = ({ subjectStrategy }: SubjectSettings): readonly ('public' | 'pairwise')[] =>
  subjectStrategy === 'pairwise' ? ['pairwise'] : ['public', 'pairwise'];

/**
 * The host that the client's redirect URIs have in common, or that of its sector_identifier_uri. Without one host of its own
 * (several, none, a loopback address, an app's own scheme) the client is a sector by itself.
 */
export function sectorOf({
  id,
  redirectUris,
  sectorIdentifierUri,
}: {
  id: string;
  redirectUris: readonly string[];
  sectorIdentifierUri: string | null;
}): string {
  const addresses = sectorIdentifierUri === null ? redirectUris : [sectorIdentifierUri];
  const [host = '', ...others] = new Set(addresses.map((address) => new URL(address).hostname));
  return host === '' || others.length > 0 || loopbackHosts.has(host) ? id : host;
}

/** A UUIDv8 (RFC 9562 §5.8); no client can have such an id. */
function pairwise(salt: Buffer, sector: string, userId: string): string {
  const bytes = createHmac('sha256', salt).update(`${sector}\0${userId}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return uuidOf(bytes);
}
const uuidOf = (bytes: Buffer): string => {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Finds and makes `sub` values: public, or pairwise for each sector (OIDC Core §8). */
export function createSubjects({
  sql,
  seal,
  settings,
  now,
}: {
  sql: Sql;
  seal: Seal;
  settings: { of(realm: string): Promise<SubjectSettings | undefined> };
  now: () => Date;
}) {
  const personContext = (realm: string) => `subject:${realm}`;

  /** A realm's salt, made when it is first needed. If two requests make one, the first stored salt counts. */
  const salts = createRealmCache<Buffer>({
    now,
    async load(realm) {
      const made = seal.seal(randomBytes(32), saltContext(realm));
      const [row] = await sql<{ salt: Buffer }>`
        with made as (
          update realm set subject_salt = ${made} where realm_id = ${realm} and subject_salt is null returning subject_salt
        )
        select coalesce((select subject_salt from made), subject_salt) as salt from realm where realm_id = ${realm}`;
      if (!row?.salt) throw new Error(`the realm ${realm} has no salt for its subjects`);
      return seal.open(row.salt, saltContext(realm));
    },
  });

  async function strategyFor(realm: string, { subjectType }: Audience): Promise<'id' | 'pairwise' | 'attribute'> {
    const strategy = (await settings.of(realm))?.subjectStrategy ?? 'public';
    if ((subjectType ?? strategy) === 'pairwise') return 'pairwise';
    return strategy === 'attribute' ? 'attribute' : 'id';
  }

  /** @returns undefined if the user has no subject, and so gets no tokens of this client */
  async function of(
    realm: string,
    audience: Audience,
    { id, subject }: { id: string; subject: string | null },
  ): Promise<Subject | undefined> {
    const strategy = await strategyFor(realm, audience);
    if (strategy === 'id') return { sub: id };
    const sub = strategy === 'attribute' ? subject : pairwise(await salts.get(realm, ''), audience.sector, id);
    if (sub === null) return undefined;
    const sealed = seal.seal(Buffer.from(id.replaceAll('-', ''), 'hex'), personContext(realm));
    return { sub, [PERSON_CLAIM]: sealed.toString('base64url') };
  }

  return {
    of,

    /** The same for a user of whom only the id is known. */
    async ofUser(realm: string, audience: Audience, id: string): Promise<Subject | undefined> {
      if ((await strategyFor(realm, audience)) !== 'attribute') return of(realm, audience, { id, subject: null });
      const [row] = await sql<{ subject: string | null }>`
        select subject from realm_user where realm_id = ${realm} and id = ${id}`;
      return row && of(realm, audience, { id, subject: row.subject });
    },

    /** The user's id in a verified token; undefined if the token names no user. */
    find(realm: string, { sub, [PERSON_CLAIM]: sealed }: Said): string | undefined {
      if (sealed === undefined) return UUID.test(sub) ? sub : undefined;
      try {
        return uuidOf(seal.open(Buffer.from(String(sealed), 'base64url'), personContext(realm)));
      } catch {
        return undefined;
      }
    },

    drop: salts.drop,
  };
}
export type Subjects = ReturnType<typeof createSubjects>;
