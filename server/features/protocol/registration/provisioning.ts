// The realm's rules for client registration, as a view of its settings; and the initial access tokens that permit it.
// Specification 4.2; decisions "Fields that the specification does not show".
import { DAY_MS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import type { Changes } from '../../../contract/names.ts';
import { Problem } from '../../../contract/problem.ts';
import { type InitialAccessToken, Provisioning, settingOf, type UnusedClient } from '../../../contract/provisioning.ts';
import type { RealmSettingsDto, SettingsInput } from '../../../contract/settings.ts';
import { newToken, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import type { Expect } from '../../../http/etag.ts';
import type { Author } from '../../../resource/api.ts';
import { refuseLending } from '../../../resource/rights.ts';
import * as store from './store.ts';

export interface PolicySource {
  of(realm: string): Promise<RealmSettingsDto | undefined>;
}

const viewOf = (settings: RealmSettingsDto): Provisioning =>
  Provisioning.parse(
    Object.fromEntries(Object.entries(settingOf).map(([field, setting]) => [field, settings[setting]])),
  );

export async function policyOf(settings: PolicySource, realm: string): Promise<Provisioning> {
  const found = await settings.of(realm);
  if (!found) throw new Problem('not-found', `There is no realm ${realm}`);
  return viewOf(found);
}

const toWire = (row: store.InitialTokenRow): InitialAccessToken => ({
  id: row.id,
  usesLeft: row.uses_left,
  createdAt: row.created_at.getTime(),
  expiresAt: row.expires_at.getTime(),
});

export function createClientProvisioning({
  sql,
  transact,
  settings,
  now,
  newId,
}: {
  sql: Sql;
  transact: Transact;
  settings: PolicySource & {
    get(realm: string): Promise<RealmSettingsDto>;
    put(author: Author, realm: string, input: SettingsInput, expect: Expect): Promise<RealmSettingsDto>;
  };
  now: () => Date;
  newId: () => string;
}) {
  const party = (id: string) => ({ type: 'object', id, name: 'initial access token' }) as const;
  return {
    get: async (realm: string): Promise<Provisioning> => viewOf(await settings.get(realm)),

    async put(author: Author, realm: string, input: Changes<Provisioning>, expect: Expect): Promise<Provisioning> {
      const said = Object.entries(settingOf).filter(([field]) => Object.hasOwn(input, field));
      const change = Object.fromEntries(said.map(([field, setting]) => [setting, Reflect.get(input, field)]));
      // the tag covers this view, not all settings
      return viewOf(await settings.put(author, realm, change, (current) => expect(viewOf(Object(current)))));
    },

    tokens: async (realm: string, after: string | undefined, limit: number): Promise<InitialAccessToken[]> =>
      (await store.listTokens(sql, realm, { after, limit, now: now() })).map(toWire),

    unused: async (
      realm: string,
      { days, ...page }: { days: number; after: string | undefined; limit: number },
    ): Promise<UnusedClient[]> =>
      (await store.listUnused(sql, realm, { ...page, since: new Date(now().getTime() - days * DAY_MS) })).map(
        (row) => ({
          id: row.id,
          clientId: row.client_id,
          name: row.name,
          createdAt: row.created_at.getTime(),
          lastUsedAt: row.used_at?.getTime() ?? null,
        }),
      ),

    async makeToken(
      { principal, by }: Author,
      realm: string,
      { uses, expiresAt }: { uses: number; expiresAt?: number | undefined },
    ): Promise<InitialAccessToken & { token: string }> {
      const { initialAccessTokenTtlSeconds: ttl, registration, allowedScopes } = await policyOf(settings, realm);
      // In an open realm every client may register, so the token adds nothing.
      if (registration !== 'open' && allowedScopes.includes(ACCOUNT_SCOPE))
        refuseLending(principal, realm, ['allowedScopes']);
      const at = now();
      const until = new Date(expiresAt ?? at.getTime() + ttl * 1000);
      if (until <= at)
        throw new Problem('invalid-request', undefined, {
          errors: [{ path: 'expiresAt', message: 'must be in the future' }],
        });
      const token = newToken('svc_iat_');
      const row = { id: newId(), uses_left: uses, created_at: at, expires_at: until };
      return transact(realm, async (tx) => {
        await store.insertToken(tx.sql, realm, sha256(token), row);
        const data = { uses, expiresAt: until.getTime() };
        tx.record({ type: 'INITIAL_ACCESS_TOKEN_CREATED', realm, by, subject: party(row.id), data });
        return { ...toWire(row), token };
      });
    },

    removeToken: (by: By, realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        if (!(await store.deleteToken(tx.sql, realm, id)))
          throw new Problem('not-found', 'There is no such initial access token');
        tx.record({ type: 'INITIAL_ACCESS_TOKEN_DELETED', realm, by, subject: party(id) });
      }),
  };
}
export type ProvisioningService = ReturnType<typeof createClientProvisioning>;
