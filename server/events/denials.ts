// Audits refused admin requests (ACCESS_DENIED). The attempt stands in the log of the realm that it was made on;
// a made-up realm has none, so there it stands in that of the caller's home. Decisions "Admin authentication".
import type { By } from '../contract/events.ts';
import type { Transact } from '../db/transact.ts';

export interface Denial {
  realm: string;
  /** Where the caller is at home. */
  home?: string;
  by: By;
  permission: string;
  method: string;
  path: string;
}

const MAX_PATH = 500;

export const createDenials =
  ({ transact, realmExists }: { transact: Transact; realmExists(realm: string): Promise<boolean> }) =>
  async ({ realm, home, by, permission, method, path }: Denial): Promise<void> => {
    const known = (await realmExists(realm)) ? realm : (home ?? 'master');
    await transact(known, async ({ record }) =>
      record({
        type: 'ACCESS_DENIED',
        realm: known,
        by,
        outcome: 'denied',
        subject: { type: 'realm', id: realm, name: realm },
        data: { permission, method, path: path.slice(0, MAX_PATH) },
      }),
    );
  };
