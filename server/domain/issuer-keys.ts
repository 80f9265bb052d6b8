// The keys of foreign issuers: found by discovery or at an explicit address, through the outbound guard, cached for a
// while, and fetched again once for an unknown key. Specification 4.7 step 3, 5 rule 5; decisions "Workload identity".
import { z } from 'zod';
import { makeRoom } from '../db/cache.ts';
import type { Outbound } from '../http/outbound.ts';
import { isWithin } from '../schedule/window.ts';
import { candidateKeys, type ForeignKey, ForeignKeySet, type Presented, signedBy } from './workload-token.ts';

const LIMITS = { timeoutMs: 5_000, maxBytes: 256 * 1024 };
// RFC 7517 §8.5.2: a Kubernetes API server answers 406 where the media type of JWK sets isn't taken.
const ACCEPT = 'application/json, application/jwk-set+json';
const KEPT_MS = 600_000;
/** The least time between two fetches for unknown keys; FAILURE_MS: the time before a failed fetch is tried again. */
const COOL_DOWN_MS = 10_000;
const FAILURE_MS = 5_000;
const MOST_ISSUERS = 1_000;
/**
 * The path at which every API server serves its keys. The address in its discovery document may be unreachable from
 * here.
 */
const CLUSTER_KEYS_PATH = '/openid/v1/jwks';

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https$/ }) });

export interface Source {
  issuer: string;
  jwksUri: string | null;
}
interface Entry {
  keys: Promise<readonly ForeignKey[]>;
  fetchedAt: number;
  /** For so long; the next use after it fetches the keys again. */
  keptMs: number;
}

export function createIssuerKeys({ outbound, now }: { outbound: Pick<Outbound, 'fetch'>; now(): Date }) {
  const entries = new Map<string, Entry>();
  const renewedAt = new Map<string, number>();
  const keyOf = ({ issuer, jwksUri }: Source) => JSON.stringify([jwksUri === null ? issuer : null, jwksUri]);

  async function json(url: string): Promise<{ content: unknown; atHome: boolean }> {
    const { status, body, atHome = false } = await outbound.fetch(url, { headers: { accept: ACCEPT }, ...LIMITS });
    if (status !== 200) throw new Error(`${url} answered ${status}`);
    return { content: JSON.parse(body.toString()), atHome };
  }

  async function addressOf({ issuer, jwksUri }: Source): Promise<string> {
    if (jwksUri !== null) return jwksUri;
    const { content, atHome } = await json(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const read = Discovery.safeParse(content);
    if (!read.success) throw new Error(`the discovery document of ${issuer} names no keys at https`);
    const found = read.data;
    // OpenID Connect Discovery §4.3: otherwise any host could speak for any issuer.
    if (found.issuer !== issuer) throw new Error(`${issuer} calls itself ${found.issuer}`);
    const inCluster = atHome && new URL(found.jwks_uri).origin !== new URL(issuer).origin;
    return inCluster ? new URL(CLUSTER_KEYS_PATH, issuer).href : found.jwks_uri;
  }

  async function download(source: Source): Promise<readonly ForeignKey[]> {
    const address = await addressOf(source);
    const read = ForeignKeySet.safeParse((await json(address)).content);
    if (!read.success) throw new Error(`${address} answered no JWK set, or too many keys`);
    return read.data;
  }

  function keep(source: Source, keys: Promise<readonly ForeignKey[]>): Entry {
    makeRoom(entries, MOST_ISSUERS);
    makeRoom(renewedAt, MOST_ISSUERS);
    const entry: Entry = { keys, fetchedAt: now().getTime(), keptMs: KEPT_MS };
    entries.set(keyOf(source), entry);
    return entry;
  }

  return {
    async get(source: Source): Promise<readonly ForeignKey[]> {
      const found = entries.get(keyOf(source));
      if (found && isWithin(found.fetchedAt, now().getTime(), found.keptMs)) return found.keys;
      const entry = keep(source, download(source));
      entry.keys.catch(() => {
        Object.assign(entry, { fetchedAt: now().getTime(), keptMs: FAILURE_MS });
      });
      return entry.keys;
    },

    /**
     * Fetches the keys anew, for a token with an unknown key; undefined within the cool-down. After a failure the old
     * keys stay.
     */
    async renewed(source: Source): Promise<readonly ForeignKey[] | undefined> {
      const key = keyOf(source);
      const at = now().getTime();
      if (isWithin(renewedAt.get(key) ?? Number.NEGATIVE_INFINITY, at, COOL_DOWN_MS)) return undefined;
      renewedAt.set(key, at);
      const keys = await download(source);
      keep(source, Promise.resolve(keys));
      return keys;
    },
  };
}
export type IssuerKeys = ReturnType<typeof createIssuerKeys>;

/** Whether a key of the issuer signed the token. @throws if the keys can't be fetched */
export async function signatureHolds(issuerKeys: IssuerKeys, source: Source, token: Presented): Promise<boolean> {
  const keys = candidateKeys(await issuerKeys.get(source), token);
  if (await signedBy(keys, token)) return true;
  // A known key did not sign the token: the token is wrong, not the cached keys. Without a kid the keys may be old.
  if (keys.length > 0 && token.kid !== undefined) return false;
  const renewed = await issuerKeys.renewed(source);
  return renewed !== undefined && signedBy(candidateKeys(renewed, token), token);
}
