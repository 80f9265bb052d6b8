// Owns: a realm's settings object: reading, replacing, and the cached view that every other feature reads.
// Does not own: a setting's effect (sessions, risk, tokens, …), nor the realm's row (features/configuration/realms).
// Implements: specification 2.3, 4.2; decisions "Reading and writing" (PUT /settings).
import { type FieldError, Problem, unknownName } from '../../../contract/problem.ts';
import { PROFILE_ALGORITHM } from '../../../contract/security-profiles.ts';
import type { RealmSettingsDto, SettingsInput } from '../../../contract/settings.ts';
import { createRealmCache } from '../../../db/cache.ts';
import { constraintOf } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { hasPermission, type Principal } from '../../../domain/principal.ts';
import { SUBJECT_TAKEN } from '../../../domain/subjects.ts';
import type { Expect } from '../../../http/etag.ts';
import { issuerOf } from '../../../http/own-addresses.ts';
import type { Author } from '../../../resource/api.ts';
import type { ResourceDeps } from '../../../resource/declared.ts';
import { hasManager, NO_MANAGER, refuseDeclaredOnly } from '../../../resource/declared-only.ts';
import { refuseLending, refuseStrongerAmong } from '../../../resource/rights.ts';
import {
  accountLendingFields,
  changeOf,
  permissionsBesides,
  type StoredSettings,
  settingsFaults,
  settingsOf,
  touchedBy,
} from './rules.ts';
import * as store from './store.ts';

export interface SettingsDeps {
  sql: Sql;
  transact: Transact;
  keys: ResourceDeps['keys'];
  baseUrl: string;
  now: () => Date;
}

const SERIALIZATION_FAILURE = '40001';

export function createSettings({ sql, transact, keys, baseUrl, now }: SettingsDeps) {
  async function read(on: Sql, realm: string): Promise<RealmSettingsDto | undefined> {
    const stored = await store.readSettings(on, realm);
    return stored && settingsOf(realm, stored);
  }
  const cache = createRealmCache({ now, load: (realm) => read(sql, realm) });

  const invalid = (faults: FieldError[]) =>
    new Problem('invalid-request', faults.map((f) => `${f.path}: ${f.message}`).join('; '), { errors: faults });
  const noRealm = (realm: string) => new Problem('not-found', `There is no realm ${realm}`);

  return {
    drop: cache.drop,

    /** The cached settings; undefined: there is no such realm. */
    of: (realm: string): Promise<RealmSettingsDto | undefined> => cache.get(realm, ''),

    /** The `iss` of the realm's tokens. */
    async issuer(realm: string): Promise<string> {
      const settings = await cache.get(realm, '');
      if (!settings) throw noRealm(realm);
      return issuerOf(baseUrl, settings);
    },

    async get(realm: string): Promise<RealmSettingsDto> {
      const settings = await read(sql, realm);
      if (!settings) throw noRealm(realm);
      return settings;
    },

    /** An omitted field keeps its value; if no value changes, nothing is written. */
    put: ({ principal, by }: Author, realm: string, input: SettingsInput, expect: Expect): Promise<RealmSettingsDto> =>
      transact(realm, async (tx) => {
        const asked = (before: StoredSettings | undefined) => {
          if (!before) throw noRealm(realm);
          const current = settingsOf(realm, before);
          expect(current);
          return { current, ...changeOf(current, input) };
        };
        const first = asked(await store.readSettings(tx.sql, realm));
        if (first.changes.length === 0) return first.current;

        const { current, wanted, patch, changes } = asked(await store.lockSettings(tx.sql, realm));
        await refuseDeclaredOnly(tx.sql, realm, touchedBy(changes));
        for (const { field } of changes) requireBesides(principal, realm, field);
        if (patch.tlsClientAuthAuthorities !== undefined)
          await refuseStrongerAmong(tx.sql, principal, realm, store.clientsOfAuthorities(realm));
        const faults = settingsFaults(wanted, { baseUrl, changed: changes.map((c) => c.field) });
        if (patch.browserFlow !== undefined && !(await store.flowExists(tx.sql, realm, patch.browserFlow)))
          faults.push(unknownName('browserFlow', 'flow', patch.browserFlow));
        if (patch.declaredOnly !== undefined && wanted.declaredOnly.length > 0 && !(await hasManager(tx.sql, realm)))
          faults.push({ path: 'declaredOnly', message: NO_MANAGER });
        if (faults.length > 0) throw invalid(faults);
        refuseLending(principal, realm, accountLendingFields(current, wanted));
        await store.refuseTakenIssuer(tx.sql, realm, patch.issuer, 'issuer');
        // Another write has stored the same values in the meantime: the transaction runs again, finds no change and
        // writes nothing.
        if (changes.length === 0) throw Object.assign(new Error('settled meanwhile'), { code: SERIALIZATION_FAILURE });
        await store.mergeSettings(tx.sql, realm, patch);
        if (patch.profile) await keys.prepare(tx, realm, [PROFILE_ALGORITHM]);
        tx.record({
          type: 'SETTINGS_UPDATED',
          realm,
          by,
          subject: { type: 'realm', id: realm, name: realm },
          data: { fields: changes.map((c) => c.field), changes },
        });
        return wanted;
      }).catch((error: unknown) => {
        const constraint = constraintOf(error);
        if (constraint === store.ISSUER_TAKEN) throw store.issuerTaken('issuer');
        throw constraint === SUBJECT_TAKEN
          ? invalid([{ path: 'subjectAttribute', message: 'is the same of two people, or the name of a client' }])
          : error;
      }),
  };
}
export type SettingsService = ReturnType<typeof createSettings>;

/** @throws Problem `privilege-escalation` */
function requireBesides(principal: Principal, realm: string, field: string): void {
  const lacking = permissionsBesides[field]?.find((permission) => !hasPermission(principal, realm, permission));
  if (lacking === undefined) return;
  throw new Problem('privilege-escalation', `The setting ${field} also needs the permission ${lacking}`, {
    extra: { permission: lacking },
  });
}
