// How long grants live, what of them a request may narrow, and how one ends. Shared by the two grants of people.
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { grantIdOf } from '../../crypto/refresh-token.ts';
import type { Tx } from '../../db/transact.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { ClientView } from '../clients/view.ts';
import * as store from './store.ts';

type Lives = Pick<RealmSettingsDto, 'refreshTokenTtlSeconds' | 'accessTokenTtlSeconds'>;

/** When a refresh token that is issued now ends. */
export const lifeOf = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + (client.refreshTokenTtlSeconds ?? settings.refreshTokenTtlSeconds) * 1000);

/** The latest end of any access token that the client has now; lifetimes may have been shortened, so a day is the least. */
const accessUntil = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + Math.max(client.accessTokenTtlSeconds ?? settings.accessTokenTtlSeconds, 86_400) * 1000);

interface Of {
  realm: string;
  settings: Lives;
  client: ClientView;
}
const endingOf = ({ realm, settings, client }: Of, familyId: string, now: Date): store.Ending => ({
  realm,
  familyId,
  gid: grantIdOf(familyId),
  now,
  accessUntil: accessUntil(settings, client, now),
});

/** A client's refresh families, for those that end one: the grants on reuse, revocation. */
export const createFamilies = ({ now }: { now: () => Date }) => ({
  read: (tx: Tx, realm: string, client: ClientView, familyId: string) =>
    store.readFamily(tx.sql, realm, { familyId, client: client.id }),
  /** Ends one with its access tokens; false: it had ended before. */
  end: async (tx: Tx, call: Of, familyId: string): Promise<boolean> =>
    (await store.endFamilies(tx.sql, [endingOf(call, familyId, now())])).has(familyId),
  /** The same for many at once. */
  endAll: async (tx: Tx, grants: readonly { call: Of; familyId: string }[]): Promise<void> => {
    const at = now();
    await store.endFamilies(
      tx.sql,
      grants.map(({ call, familyId }) => endingOf(call, familyId, at)),
    );
  },
});
export type Families = ReturnType<typeof createFamilies>;

/** RFC 8707 §2.2: a token request may narrow what was granted, never widen it. */
export function subsetOf(granted: readonly string[], requested: readonly string[]): readonly string[] {
  if (requested.length === 0) return granted;
  if (!requested.every((resource) => granted.includes(resource))) {
    throw new OAuthError('invalid_target', 'A requested resource was not granted');
  }
  return requested;
}
