// The lifetime of grants, and how one ends. Shared by the code and refresh token grants.
import { DAY_SECONDS } from '../../../contract/durations.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { grantIdOf } from '../../../crypto/refresh-token.ts';
import type { Tx } from '../../../db/transact.ts';
import * as grants from '../../../domain/grants.ts';
import type { ClientView } from '../../configuration/clients/view.ts';

type Lives = Pick<RealmSettingsDto, 'refreshTokenTtlSeconds' | 'accessTokenTtlSeconds'>;

/** When a refresh token issued now expires. */
export const lifeOf = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + (client.refreshTokenTtlSeconds ?? settings.refreshTokenTtlSeconds) * 1000);

const accessSeconds = (settings: Lives, client: ClientView): number =>
  client.accessTokenTtlSeconds ?? settings.accessTokenTtlSeconds;

/** When an access token issued now expires. */
export const accessLifeOf = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + accessSeconds(settings, client) * 1000);

/**
 * The latest expiry of any of the client's access tokens. Lifetimes may have been shortened, so it is at least a day
 * away.
 */
const accessUntil = (settings: Lives, client: ClientView, now: Date): Date =>
  new Date(now.getTime() + Math.max(accessSeconds(settings, client), DAY_SECONDS) * 1000);

interface Of {
  realm: string;
  settings: Lives;
  client: ClientView;
}
/** The refresh families of clients, for the code that ends one: the grants on reuse, revocation. */
export const createFamilies = ({ now }: { now: () => Date }) => ({
  read: (tx: Tx, realm: string, client: ClientView, familyId: string) =>
    grants.readFamily(tx.sql, realm, { familyId, client: client.id }),
  /** Ends a family with its access tokens; false: it had ended before. */
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
