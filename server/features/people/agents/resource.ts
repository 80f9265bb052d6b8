// Owns: agents as administrators configure them: owner, client, end. service.ts moves them between states.
// Does not own: the content of a client's tokens (features/configuration/clients/view.ts has the agent's scopes), when an agent may act (domain/agents.ts).
// Implements: specification 1, 2.10, 4.10; decisions "Agent".
import { agents } from '../../../contract/agents.ts';
import type { EventType } from '../../../contract/events.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { agentActs } from '../../../domain/agents.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { joinPaths, strings } from '../../../resource/items.ts';
import type { Fields, Saved, Wanted } from '../../../resource/part.ts';
import { epochMs, lastUsed, reviewDue } from './store.ts';

const KIND = 'agent';
const clientOf = (fields: Fields | undefined): string[] => strings([fields?.clientId]);

/**
 * A client belongs to one agent at most. Otherwise the client of a suspended agent could go on acting for another agent.
 */
async function sharedClients(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]> {
  const changed = changes.filter(({ kind }) => kind === KIND);
  const wanted = changed
    .filter(({ action }) => action !== 'delete')
    .flatMap(({ key, fields, path }) => clientOf(fields).map((clientId) => ({ key, clientId, path })));
  if (wanted.length === 0) return [];
  const others = await sql<{ name: string; client_id: string }>`
    select name, client_id from agent
    where realm_id = ${realm} and client_id = any(${wanted.map((w) => w.clientId)}::text[])
      and id <> all(${changed.flatMap((c) => c.id ?? [])}::uuid[])`;
  const holders = new Map(others.map((row) => [row.client_id, row.name]));
  return wanted.flatMap(({ key, clientId, path }) => {
    const holder = holders.get(clientId);
    holders.set(clientId, holder ?? key);
    return holder === undefined
      ? []
      : [{ path: joinPaths(path, 'clientId'), message: `${clientId} belongs to the agent ${holder} already` }];
  });
}

const keptClient = ({ before, fields }: Saved): FieldError[] => {
  const [held] = clientOf(before);
  return held === undefined || held === fields.clientId
    ? []
    : [{ path: 'clientId', message: `stays ${held}: make another agent instead` }];
};

async function linkOwners(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void> {
  const owned = saved.filter(({ changed }) => changed.includes('owner'));
  if (owned.length === 0) return;
  await sql`
    update agent a set user_id = (
      select u.id from realm_user u where u.realm_id = a.realm_id and lower(u.username) = lower(x.owner) and u.username = x.owner)
    from unnest(${owned.map(({ key }) => key)}::text[], ${owned.map(({ fields }) => strings([fields.owner])[0] ?? null)}::text[])
      as x (name, owner)
    where a.realm_id = ${realm} and a.name = x.name`;
}

/** Disables the clients of deleted agents: without the agent, no owner is responsible for what such a client does. */
async function disableClients(
  tx: Tx,
  realm: string,
  changes: readonly Wanted[],
  by: Parameters<Tx['record']>[0]['by'],
) {
  const clients = changes.filter(({ action }) => action === 'delete').flatMap(({ before }) => clientOf(before));
  if (clients.length === 0) return;
  const disabled = await tx.sql<{ id: string; client_id: string }>`
    update client set enabled = false where realm_id = ${realm} and client_id = any(${clients}::text[]) and enabled
    returning id, client_id`;
  for (const { id, client_id: clientId } of disabled)
    tx.record({
      type: 'CLIENT_UPDATED',
      realm,
      by,
      subject: { type: 'client', id, name: clientId },
      clientId,
      data: { kind: 'client', action: 'update', fields: ['enabled'], reason: 'agent-deleted' },
    });
}

const statusOf = (fields: Fields): string | undefined => strings([fields.status])[0];

/**
 * A realm document can stop an agent, never activate it again: the document doesn't know why the agent was stopped in the
 * meantime.
 */
const stops = (from: string | undefined, to: string): boolean =>
  to === 'revoked' || (to === 'suspended' && from === 'active');

async function linkStatus(sql: Sql, realm: string, saved: readonly Saved[], at: Date): Promise<void> {
  const said = saved.flatMap(({ key, before, fields, changed }) => {
    const status = changed.includes('status') ? statusOf(fields) : undefined;
    return status === undefined ? [] : [{ name: key, status, made: before === undefined }];
  });
  if (said.length === 0) return;
  await sql`
    update agent a set status = x.status, reviewed_at = case when x.status = 'active' then ${at}::timestamptz else a.reviewed_at end
    from jsonb_to_recordset(${JSON.stringify(said)}::jsonb) as x (name text, status text, made boolean)
    where a.realm_id = ${realm} and a.name = x.name
      and (x.made or x.status = 'revoked' or x.status = 'suspended' and a.status = 'active')`;
}

/**
 * Suspends new agents that are declared active but have no owner who can sign in: an administrator must name an owner
 * first.
 */
async function suspendOwnerless(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void> {
  const names = saved.filter(({ before, fields }) => !before && statusOf(fields) === 'active').map(({ key }) => key);
  if (names.length > 0)
    await sql`
      update agent t set status = 'suspended'
      where t.realm_id = ${realm} and t.name = any(${names}::text[]) and t.status = 'active' and not ${agentActs}`;
}

const MOVED: Readonly<Record<string, EventType>> = {
  active: 'AGENT_ACTIVATED',
  suspended: 'AGENT_SUSPENDED',
  revoked: 'AGENT_REVOKED',
};

export const agentsResource = (deps: ResourceDeps) =>
  declaredResource(
    agents,
    {
      table: {
        elsewhere: {
          owner: fragment`(select u.username from realm_user u where u.realm_id = t.realm_id and u.id = t.user_id)`,
        },
        inDocument: { status: { of: fragment`t.status`, fromRow: (status) => status } },
        facts: {
          status: fragment`t.status`,
          reviewedAt: epochMs(fragment`t.reviewed_at`),
          reviewDueAt: epochMs(reviewDue),
          lastUsedAt: epochMs(lastUsed),
        },
      },
      check: keptClient,
      whole: sharedClients,
      settled: (said, stands) => {
        const [from, to] = [statusOf(stands), statusOf(said)];
        return to === undefined || stops(from, to) ? said : { ...said, status: from };
      },
      renames: {},
      link: (sql, realm, saved) => linkStatus(sql, realm, saved, deps.now()),
      linkPeople: async (sql, realm, saved) => {
        await linkOwners(sql, realm, saved);
        await suspendOwnerless(sql, realm, saved);
      },
      alsoEvents: ({ before, save, fields }) => {
        const status = fields.some(({ path }) => path === 'status') ? statusOf(save) : undefined;
        const event = MOVED[before === undefined && status === 'active' && !save.owner ? 'suspended' : (status ?? '')];
        return event ? [event] : [];
      },
      onChange: disableClients,
      subject: (key, id) => ({ type: 'agent', id, name: key }),
      // To change or delete an agent, the caller must hold all permissions that the agent's client holds.
      actsAs: ({ before, save }) => [...clientOf(before), ...clientOf(save)],
      detail: ({ clientId, scopes, expiresAt }) => ({ clientId, scopes, expiresAt }),
    },
    deps,
  );
