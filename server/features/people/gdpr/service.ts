// Owns: a user's export and erasure, composed from the data of all features; listing and revoking a user's consents.
// Does not own: the features' data (each feature has a PersonalData record), asking for consent (consent).
// Implements: specification 2.9, 4.6; decisions "Consent record".
import type { By } from '../../../contract/events.ts';
import { type ConsentRecord, EXPORT_SCHEMA, type GdprExport } from '../../../contract/gdpr.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { AdminRights } from '../../../domain/admin-rights.ts';
import type { Agreement } from '../../../domain/agreement.ts';
import { endAccess, refuseTokensOf } from '../../../domain/end-access.ts';
import { endGrants } from '../../../domain/grants.ts';
import type { PersonalData } from '../../../domain/personal-data.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Expect } from '../../../http/etag.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import { shownUserById } from '../users/shown.ts';
import * as store from './store.ts';

/** Erasure rewrites every audit event that names the user, so its transaction may take long. */
const ERASURE_MS = 600_000;

export interface GdprDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  access: Pick<AdminRights, 'covers'>;
  personalData: readonly PersonalData[];
  notify: Notify;
  now: () => Date;
  newId: () => string;
}

interface OfConsent {
  userId: string;
  clientId: string;
}

export function createGdpr({ sql, transact, seal, access, personalData, notify, now, newId }: GdprDeps) {
  async function load(on: Sql, realm: string, userId: string): Promise<store.SubjectRow> {
    const row = await store.subject(on, realm, userId);
    if (!row) throw new Problem('not-found', 'There is no such user');
    return row;
  }

  /** @param by the administrator who erases; undefined: the users erase themselves */
  async function eraseIn(tx: Tx, realm: string, row: store.SubjectRow, by: By | undefined): Promise<void> {
    const { emailVerified, ...person } = row;
    // A user who erases themselves removes messages only of a verified address: an unverified address can be another
    // person's.
    const own = by !== undefined || emailVerified ? person.email : null;
    const subject = { ...person, ownEmail: own, pseudonym: newId() };
    const whom = { type: 'user', id: subject.pseudonym, name: null } as const;
    const eraser = by ?? { actor: whom, ipAddress: null };
    const record: Tx['record'] = (event) =>
      tx.record(event.subject?.id === row.id ? { ...event, subject: whom } : event);
    // The mail about a deleted account goes out early: if another person deleted it, the owner can still act.
    if (by === undefined)
      await notify({ ...tx, record }, { realm, by: eraser, userId: row.id, what: 'account-deleted', outlives: true });
    const end = { people: [row.id], cause: 'deleted', by: eraser, at: now() } as const;
    await endAccess({ sql: tx.sql, record }, realm, end);
    for (const data of personalData) await data.erase?.(tx.sql, realm, subject, { seal, at: end.at });
    await store.remove(tx.sql, realm, row.id);
    tx.record({ type: 'USER_ERASED', realm, by: eraser, subject: whom });
  }

  /** Revokes a user's consent for a client and ends the client's tokens of it. */
  async function revokeIn(tx: Tx, by: By, realm: string, { userId, clientId }: OfConsent): Promise<void> {
    const { username } = await load(tx.sql, realm, userId);
    const at = now();
    const removed = await store.removeConsent(tx.sql, realm, { userId, clientId });
    // `clientId` can name an OpenID Connect client and a SAML client.
    const ofSaml = await store.removeSamlConsent(tx.sql, realm, { userId, entityId: clientId });
    if (!removed && !ofSaml) throw new Problem('not-found', 'There is no consent for this application');
    const subject = { type: 'user', id: userId, name: username } as const;
    const told = (agreed: Agreement) =>
      tx.record({ type: 'CONSENT_REVOKED', realm, by, subject, clientId, data: { ...agreed } });
    if (ofSaml) told(ofSaml);
    if (!removed) return;
    const { client, seconds, ...agreed } = removed;
    const ended = await endGrants(tx.sql, realm, { userId, client, now: at });
    await refuseTokensOf(
      tx.sql,
      realm,
      ended.map((id) => ({ id, seconds })),
      at,
    );
    told(agreed);
  }

  return {
    /**
     * The export is recorded in the audit log. A user who exports their own data gets a mail, in case another person did
     * it.
     */
    async export(by: By, realm: string, userId: string): Promise<GdprExport> {
      const { username } = await load(sql, realm, userId);
      const parts = await Promise.all(personalData.map((data) => data.export?.(sql, realm, userId)));
      const none = { attributes: {}, roles: [], realmMemberships: [], organizations: [], credentials: [] };
      const empty = { ...none, federatedLinks: [], consents: [], loginEvents: [] };
      const head = { generatedAt: now().getTime(), schema: EXPORT_SCHEMA, realmId: realm, userId } as const;
      const federatedLinks = parts.flatMap((part) => part?.federatedLinks ?? []);
      const { profile, ...rest } = Object.assign({}, empty, ...parts, { federatedLinks }) as Partial<GdprExport> &
        typeof empty;
      if (!profile) throw new Problem('not-found', 'There is no such user');
      await transact(realm, async (tx) => {
        tx.record({ type: 'DATA_EXPORTED', realm, by, subject: { type: 'user', id: userId, name: username } });
        if (by.actor?.id === userId) await notify(tx, { realm, by, userId, what: 'data-exported' });
      });
      return { ...head, profile, ...rest };
    },

    async consents(realm: string, userId: string): Promise<ConsentRecord[]> {
      await load(sql, realm, userId);
      return store.consents(sql, realm, userId);
    },

    revokeConsent: (by: By, realm: string, of: OfConsent): Promise<void> =>
      transact(realm, (tx) => revokeIn(tx, by, realm, of)),

    /** The same at an administrator's request. */
    revokeConsentOf: (
      { principal, by }: { principal: Principal; by: By },
      realm: string,
      of: OfConsent,
    ): Promise<void> =>
      transact(realm, async (tx) => {
        await load(tx.sql, realm, of.userId);
        if (!(await access.covers(principal, realm, { userId: of.userId }, tx.sql)))
          throw new Problem('privilege-escalation', 'The user holds admin permissions that you do not hold');
        await revokeIn(tx, by, realm, of);
      }),

    /** Deletes all data of the user. Records that must stay name the user by a pseudonym that can't be resolved. */
    erase: (
      { principal, by, expect }: { principal: Principal; by: By; expect: Expect },
      realm: string,
      userId: string,
    ): Promise<void> =>
      transact(
        realm,
        async (tx) => {
          const row = await load(tx.sql, realm, userId);
          // the user's own entity tag: the export is another one at each reading
          expect((await shownUserById(tx.sql, realm, userId)) ?? row);
          if (!(await access.covers(principal, realm, { userId }, tx.sql)))
            throw new Problem('privilege-escalation', 'The user holds admin permissions that you do not hold');
          // Administrators who erase themselves leave no actor: the event names the pseudonym.
          await eraseIn(tx, realm, row, principal.realm === realm && principal.id === userId ? undefined : by);
        },
        { longestMs: ERASURE_MS },
      ),

    /** The erasure that users request for themselves. */
    eraseOneself: (realm: string, userId: string): Promise<void> =>
      transact(realm, async (tx) => eraseIn(tx, realm, await load(tx.sql, realm, userId), undefined), {
        longestMs: ERASURE_MS,
      }),
  };
}
export type Gdpr = ReturnType<typeof createGdpr>;
