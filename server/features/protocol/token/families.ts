// How long grants live, and how one ends. Shared by the two grants of people.
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { grantIdOf } from '../../../crypto/refresh-token.ts';
import type { Tx } from '../../../db/transact.ts';
import * as grants from '../../../domain/grants.ts';
import type { ClientView } from '../../configuration/clients/view.ts';

type Lives = Pick<RealmSettingsDto, 'refreshTokenTtlSeconds' | 'accessTokenTtlSeconds'>;

/** When a refresh token that is issued now ends. */
export const lifeOf = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + (client.refreshTokenTtlSeconds ?? settings.refreshTokenTtlSeconds) * 1000);

const accessSeconds = (settings: Lives, client: ClientView): number =>
  client.accessTokenTtlSeconds ?? settings.accessTokenTtlSeconds;

/** When an access token that is issued now ends. */
export const accessLifeOf = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + accessSeconds(settings, client) * 1000);

/** The latest end of any access token that the client has now; lifetimes may have been shortened, so a day is the least. */
const accessUntil = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + Math.max(accessSeconds(settings, client), 86_400) * 1000);

interface Of {
  realm: string;
  settings: Lives;
  client: ClientView;
}
/** A client's refresh families, for those that end one: the grants on reuse, revocation. */
export const createFamilies = ({ now }: { now: () => Date }) => ({
  read: (tx: Tx, realm: string, client: ClientView, familyId: string) =>
    grants.readFamily(tx.sql, realm, { familyId, client: client.id }),
  /** Ends one with its access tokens; false: it had ended before. */
  end: (tx: Tx, { realm, settings, client }: Of, familyId: string): Promise<boolean> =>
    grants.endFamily(tx.sql, {
      realm,
      familyId,
      gid: grantIdOf(familyId),
      now: now(),
      accessUntil: accessUntil(settings, client, now()),
    }),
});
export type Families = ReturnType<typeof createFamilies>;
