// Audits refused admin requests (ACCESS_DENIED). The event belongs to the realm of the request; if there is no such
// realm, to the caller's own. Decisions "Admin authentication".
import type { By } from '../contract/events.ts';
import type { Transact } from '../db/transact.ts';

export interface Denial {
  realm: string;
  /** The caller's own realm. */
  home?: string;
  by: By;
  permission: string;
  method: string;
  path: string;
}

const MAX_PATH = 500;

/** Audits a refused request. */
export type Denied = (denial: Denial) => Promise<void>;

const audited = new WeakSet<Error>();
/** Notes that a refusal is in the audit log, so that the surface does not write it again. */
export const noteAudited = (refusal: Error): void => void audited.add(refusal);
export const isAudited = (refusal: Error): boolean => audited.has(refusal);

export const createDenials =
  ({ transact, realmExists }: { transact: Transact; realmExists(realm: string): Promise<boolean> }): Denied =>
  async ({ realm, home, by, permission, method, path }) => {
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
