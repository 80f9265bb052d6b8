// SQL of flows and their executions.
import type { Execution, Requirement } from '../../../contract/flows.ts';
import type { Sql } from '../../../db/sql.ts';
import { renameOwned } from '../../../domain/ownership.ts';

export interface FlowRow {
  alias: string;
  built_in: boolean;
}
interface ExecutionRow {
  execution_id: string;
  parent_id: string | null;
  name: string | null;
  authenticator_id: string | null;
  requirement: Requirement;
  condition: boolean;
  priority: number;
  config: Record<string, unknown>;
}

const toExecution = (row: ExecutionRow): Execution => ({
  executionId: row.execution_id,
  parentId: row.parent_id,
  authenticatorId: row.authenticator_id,
  name: row.name,
  requirement: row.requirement,
  condition: row.condition,
  priority: row.priority,
  config: row.config,
});

/** The built-in flow comes first; `after` is the last flow of the previous page. */
export const list = (sql: Sql, realm: string, after: FlowRow | undefined, limit: number) => sql<FlowRow>`
  select alias, built_in from flow
  where realm_id = ${realm}
    and (${after?.alias ?? null}::text is null or (not built_in, alias) > (not ${after?.built_in ?? true}::boolean, ${after?.alias ?? null}))
  order by not built_in, alias limit ${limit}`;

export const read = async (sql: Sql, realm: string, alias: string) =>
  (await sql<FlowRow>`select alias, built_in from flow where realm_id = ${realm} and alias = ${alias}`)[0];

/** Reads a flow and locks it against other writes until the transaction ends. */
export const lock = async (sql: Sql, realm: string, alias: string) =>
  (await sql<FlowRow>`select alias, built_in from flow where realm_id = ${realm} and alias = ${alias} for update`)[0];

export const executions = async (sql: Sql, realm: string, alias: string) =>
  (
    await sql<ExecutionRow>`
      select execution_id, parent_id, name, authenticator_id, requirement, condition, priority, config
      from flow_execution where realm_id = ${realm} and flow_alias = ${alias} order by priority, execution_id`
  ).map(toExecution);

/** @returns whether the alias was free */
export const insert = async (sql: Sql, realm: string, alias: string, builtIn: boolean) =>
  (
    await sql`insert into flow (realm_id, alias, built_in) values (${realm}, ${alias}, ${builtIn})
      on conflict do nothing returning alias`
  ).length > 0;

export async function replaceExecutions(sql: Sql, realm: string, alias: string, rows: readonly Execution[]) {
  await sql`delete from flow_execution where realm_id = ${realm} and flow_alias = ${alias}
    and not execution_id = any(${rows.map((r) => r.executionId)}::uuid[])`;
  await sql`
    insert into flow_execution (realm_id, flow_alias, execution_id, parent_id, name, authenticator_id, requirement,
      condition, priority, config)
    select ${realm}, ${alias}, * from unnest(
      ${rows.map((r) => r.executionId)}::uuid[], ${rows.map((r) => r.parentId)}::uuid[], ${rows.map((r) => r.name)}::text[],
      ${rows.map((r) => r.authenticatorId)}::text[], ${rows.map((r) => r.requirement)}::text[],
      ${rows.map((r) => r.condition)}::boolean[], ${rows.map((r) => r.priority)}::int[],
      ${rows.map((r) => JSON.stringify(r.config))}::jsonb[])
    on conflict (realm_id, flow_alias, execution_id) do update set parent_id = excluded.parent_id, name = excluded.name,
      authenticator_id = excluded.authenticator_id, requirement = excluded.requirement, condition = excluded.condition,
      priority = excluded.priority, config = excluded.config`;
}

/** @returns whether the new alias was free */
export const rename = async (sql: Sql, realm: string, from: string, to: string) =>
  (
    await sql`update flow set alias = ${to} where realm_id = ${realm} and alias = ${from}
      and not exists (select 1 from flow where realm_id = ${realm} and alias = ${to}) returning alias`
  ).length > 0;

/** Updates the realm's binding, the clients' overrides and the owner's record to the new name. */
export async function renameBindings(sql: Sql, realm: string, from: string, to: string): Promise<void> {
  await sql`update realm set settings = jsonb_set(settings, '{browserFlow}', to_jsonb(${to}::text))
    where realm_id = ${realm} and coalesce(settings ->> 'browserFlow', 'browser') = ${from}`;
  await sql`update client set flow_override = ${to} where realm_id = ${realm} and flow_override = ${from}`;
  await sql`update application set flow_override = ${to} where realm_id = ${realm} and flow_override = ${from}`;
  await sql`update saml_client set flow_override = ${to} where realm_id = ${realm} and flow_override = ${from}`;
  await sql`
    update identity_provider set first_login_flow = ${to} where realm_id = ${realm} and first_login_flow = ${from}`;
  await renameOwned(sql, realm, ['flow'], from, to);
}

/** The users of the flow: 'the realm', or a client's id. */
export const boundTo = async (sql: Sql, realm: string, alias: string) =>
  (
    await sql<{ bound: string }>`
      select 'the realm' as bound from realm
      where realm_id = ${realm} and coalesce(settings ->> 'browserFlow', 'browser') = ${alias}
      union all
      (select 'the client ' || client_id from client where realm_id = ${realm} and flow_override = ${alias}
       order by client_id limit 5)
      union all
      (select 'the application ' || name from application where realm_id = ${realm} and flow_override = ${alias}
       order by name limit 5)
      union all
      (select 'the SAML client ' || entity_id from saml_client where realm_id = ${realm} and flow_override = ${alias}
       order by entity_id limit 5)
      union all
      (select 'the identity provider ' || alias from identity_provider
       where realm_id = ${realm} and first_login_flow = ${alias} order by alias limit 5)`
  ).map((row) => row.bound);

export const remove = async (sql: Sql, realm: string, alias: string) =>
  (await sql`delete from flow where realm_id = ${realm} and alias = ${alias} returning alias`).length > 0;
