// Owns: the check whether every object that bootstrap (service.ts) would create exists: then a start loads none of its code.
// Does not own: the wanted state (wanted.ts), creating it.
// Implements: decisions "Realms", "The last administrator"; performance, "start".
import { ADMIN_CLI } from '../../../contract/admin-cli.ts';
import { messages } from '../../../contract/message-keys.ts';
import { MASTER } from '../../../contract/realms.ts';
import { sameClientSecret } from '../../../crypto/client-secret.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Sql } from '../../../db/sql.ts';
import { hasAdministrator } from '../../../domain/administrators.ts';
import { areRolesCurrent, refreshAdminRoles } from '../admin-access/seed.ts';
import * as store from './store.ts';
import { type BootstrapOptions, isCliClientSettled, OPERATOR, OPERATOR_SHAPE } from './wanted.ts';

/** The language of the templates that every realm is seeded with. */
const LOCALE = 'en';

interface ClientRow {
  client_id: string;
  enabled: boolean;
  grant_types: string[];
  token_endpoint_auth_method: string;
  redirect_uris: string[];
  has_keys: boolean;
  allowed_resources: string[];
  secret_hash: Buffer | null;
  secret_slow: string | null;
}

const isShaped = (row: ClientRow): boolean =>
  row.enabled === OPERATOR_SHAPE.enabled &&
  row.grant_types.join() === OPERATOR_SHAPE.grantTypes.join() &&
  row.token_endpoint_auth_method === OPERATOR_SHAPE.tokenEndpointAuthMethod &&
  row.redirect_uris.length === 0 &&
  !row.has_keys;

async function isIdentitySettled(sql: Sql, { issuer, subject, audience }: store.Identity): Promise<boolean> {
  const [row] = await sql`
    select from workload_identity where realm_id = ${MASTER} and name = ${OPERATOR} and client_id = ${OPERATOR} and enabled
      and issuer = ${issuer} and subject = ${subject} and audience = ${audience} and jwks_uri is null`;
  return (
    row !== undefined &&
    (await store.sameIdentity(sql, MASTER, { name: OPERATOR, issuer, subject, audience })).length === 0
  );
}

export function createSettled({
  sql,
  passwords,
  adminAudience,
}: {
  sql: Sql;
  passwords: Pick<Passwords, 'verify'>;
  adminAudience: string;
}) {
  async function isOperatorSettled(row: ClientRow | undefined, { secret, identity }: BootstrapOptions['operator']) {
    if (secret === undefined && !identity) return true;
    if (!row || !isShaped(row) || !(await store.isGranted(sql, MASTER, OPERATOR))) return false;
    const stored = { hash: row.secret_hash, slow: row.secret_slow };
    const isSame =
      secret === undefined
        ? stored.hash === null && stored.slow === null
        : await sameClientSecret(stored, secret, passwords);
    return isSame && (!identity || isIdentitySettled(sql, identity));
  }

  /** Whether every realm has every template. Counting reads an index once; a look-up in each realm took ten times as long. */
  async function haveTemplates(): Promise<boolean> {
    const [row] = await sql<{ complete: boolean }>`
      select count(*) = (select count(*) * ${wantedTemplates.length} from realm where deleted_at is null) as complete
      from message_template m
      join jsonb_to_recordset(${JSON.stringify(wantedTemplates)}::jsonb) as t (key text, channel text)
        on t.key = m.template_key and t.channel = m.channel
      where m.locale = ${LOCALE} and m.realm_id not in (select realm_id from realm where deleted_at is not null)`;
    return row?.complete === true;
  }

  /**
   * Whether a start has nothing to create or change. False in doubt: bootstrap then checks in detail, and logs warnings
   * for administrators.
   */
  async function isSettled({ operator }: BootstrapOptions): Promise<boolean> {
    const clients = sql<ClientRow>`
      select client_id, enabled, grant_types, token_endpoint_auth_method, redirect_uris, allowed_resources, secret_hash, secret_slow,
        jwks is not null or jwks_uri is not null as has_keys
      from client where realm_id = ${MASTER} and client_id in (${ADMIN_CLI}, ${OPERATOR})`;
    const asked = [clients, haveTemplates(), store.isBootstrapped(sql, MASTER), hasAdministrator(sql)] as const;
    const [rows, haveAll, isBootstrapped, isAdministered] = await Promise.all(asked);
    const cli = rows.find((row) => row.client_id === ADMIN_CLI);
    return (
      isBootstrapped &&
      isAdministered &&
      haveAll &&
      cli !== undefined &&
      isCliClientSettled(cli.allowed_resources, adminAudience) &&
      isOperatorSettled(
        rows.find((row) => row.client_id === OPERATOR),
        operator,
      )
    );
  }

  /** Updates the permissions of built-in roles, if the start has nothing else to do. @returns whether that is so */
  return async function settle(options: BootstrapOptions): Promise<boolean> {
    if (!(await isSettled(options))) return false;
    if (!(await areRolesCurrent(sql))) await refreshAdminRoles(sql, await store.allRealms(sql));
    return true;
  };
}

const wantedTemplates = Object.entries(messages).map(([key, { channel }]) => ({ key, channel }));
