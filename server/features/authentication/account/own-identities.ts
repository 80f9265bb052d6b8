// Disconnects the user's own account from an identity provider, for the page and the API. One way to sign in must be left.
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Links } from '../brokering/links.ts';
import type { WaysLeft } from './ways-left.ts';

export interface OwnIdentitiesDeps {
  links: Pick<Links, 'list' | 'remove'>;
  waysLeft: WaysLeft;
}

export const createOwnIdentities = ({ links, waysLeft }: OwnIdentitiesDeps) => ({
  async remove(
    tx: Tx,
    by: By,
    realm: string,
    user: Parameters<Links['remove']>[3],
    which: Parameters<Links['remove']>[4],
  ): Promise<'removed' | 'absent' | 'last'> {
    const all = await links.list(realm, user.id, tx.sql);
    if (!all.some(({ id }) => id === which.id)) return 'absent';
    if (!(await waysLeft(tx.sql, realm, user.id, which.id))) return 'last';
    return (await links.remove(tx, by, realm, user, which)) ? 'removed' : 'absent';
  },
});
export type OwnIdentities = ReturnType<typeof createOwnIdentities>;
