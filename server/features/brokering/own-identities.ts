// Disconnecting one's own account from an identity provider, by the page or the API: one way to prove who they are has to be left.
import type { By } from '../../contract/events.ts';
import type { Tx } from '../../db/transact.ts';
import type { Factors } from '../../domain/factors.ts';
import type { Credentials } from '../credentials/service.ts';
import type { Links } from './links.ts';

export interface OwnIdentitiesDeps {
  links: Pick<Links, 'list' | 'remove'>;
  credentials: Pick<Credentials, 'list'>;
  factors: Pick<Factors, 'identifiedBy'>;
}

export const createOwnIdentities = ({ links, credentials, factors }: OwnIdentitiesDeps) => ({
  async remove(
    tx: Tx,
    by: By,
    realm: string,
    user: Parameters<Links['remove']>[3],
    which: Parameters<Links['remove']>[4],
  ): Promise<'removed' | 'absent' | 'last'> {
    const all = await links.list(realm, user.id, tx.sql);
    if (!all.some(({ id }) => id === which.id)) return 'absent';
    const own = await credentials.list(realm, user.id, tx.sql);
    if (all.length === 1 && !factors.identifiedBy(own.map(({ type }) => type))) return 'last';
    return (await links.remove(tx, by, realm, user, which)) ? 'removed' : 'absent';
  },
});
export type OwnIdentities = ReturnType<typeof createOwnIdentities>;
