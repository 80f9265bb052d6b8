// The realm document's `flows`: trees by containment, compared as documents; ids of unchanged steps stay.
// tree.ts has the rules of a sound tree. Specification 2.1, 2.10.
import { type Execution, type ExecutionDocument, type ExecutionInput, FlowDocument } from '../../../contract/flows.ts';
import type { FieldError } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { parsing, withoutUndefined } from '../../../resource/items.ts';
import type { Existing, RealmPart, Saved } from '../../../resource/part.ts';
import { type AuthenticatorEntry, documentFaults, documentOf, nest, rowsOf, type TreeNode } from './tree.ts';

interface Row {
  flow_alias: string;
  execution_id: string;
  parent_id: string | null;
  name: string | null;
  authenticator_id: string | null;
  requirement: Execution['requirement'];
  condition: boolean;
  priority: number;
  config: Record<string, unknown>;
}

/** Removes empty parts, as {@link documentOf} does. */
const canonical = (executions: readonly ExecutionDocument[]): ExecutionDocument[] =>
  executions.map(({ config, executions: children, ...rest }) => ({
    ...rest,
    ...(config && Object.keys(config).length > 0 ? { config } : {}),
    ...(children && children.length > 0 ? { executions: canonical(children) } : {}),
  }));

const executionsOf = ({ fields }: Pick<Saved, 'fields'>): ExecutionDocument[] => {
  const parsed = FlowDocument.shape.executions.safeParse(fields.executions);
  return parsed.success ? (parsed.data ?? []) : [];
};

/** Gives the document's steps the ids of equal stored steps: with the same authenticator and name, in order. */
function withIds(wanted: readonly ExecutionDocument[], stored: readonly TreeNode[]): ExecutionInput[] {
  const free = [...stored];
  return wanted.map((execution) => {
    const at = free.findIndex(
      (node) => node.authenticatorId === (execution.authenticatorId ?? null) && node.name === (execution.name ?? null),
    );
    const [match] = at < 0 ? [] : free.splice(at, 1);
    return {
      ...execution,
      ...(match ? { executionId: match.executionId } : {}),
      executions: withIds(execution.executions ?? [], match?.children ?? []),
    };
  });
}

async function readTrees(
  sql: Sql,
  realm: string,
  aliases: readonly string[] | null,
): Promise<Map<string, Execution[]>> {
  const rows = await sql<Row>`
    select flow_alias, execution_id, parent_id, name, authenticator_id, requirement, condition, priority, config
    from flow_execution where realm_id = ${realm} and (${aliases}::text[] is null or flow_alias = any(${aliases}::text[]))
    order by flow_alias, priority, execution_id`;
  const trees = new Map<string, Execution[]>();
  for (const row of rows) {
    const { requirement, condition, priority, config, name } = row;
    const execution = {
      executionId: row.execution_id,
      parentId: row.parent_id,
      authenticatorId: row.authenticator_id,
      name,
      requirement,
      condition,
      priority,
      config,
    };
    const tree = trees.get(row.flow_alias);
    if (tree) tree.push(execution);
    else trees.set(row.flow_alias, [execution]);
  }
  return trees;
}

/** @param registry the authenticators that a tree may name */
export function createFlowsPart({
  registry,
  newId,
}: {
  registry: readonly AuthenticatorEntry[];
  newId: () => string;
}): RealmPart {
  const rowsFor = (executions: readonly ExecutionInput[]) => rowsOf(executions, { registry, newId });

  function faults(saved: Saved): FieldError[] {
    const wanted = executionsOf(saved);
    // POST /flows also creates empty flows, to which an administrator adds steps.
    if (wanted.length === 0 || !saved.changed.includes('executions')) return [];
    return documentFaults(wanted, registry);
  }

  return {
    section: 'flows',
    kind: 'flow',
    area: 'flows',
    list: true,
    parse: parsing(FlowDocument, ({ alias, executions }, path) => [
      { key: alias, fields: withoutUndefined({ executions: executions && canonical(executions) }), path },
    ]),
    print: (objects) => objects.map(({ key, fields }) => ({ alias: key, ...fields })),
    fresh: () => ({ executions: [] }),
    async read(sql, realm, keys) {
      const aliases = keys ?? null;
      const flows = await sql<{ alias: string; built_in: boolean }>`
        select alias, built_in from flow
        where realm_id = ${realm} and (${aliases}::text[] is null or alias = any(${aliases}::text[]))`;
      const trees = await readTrees(sql, realm, aliases);
      return new Map(
        flows.map(({ alias, built_in }): [string, Existing] => [
          alias,
          { fields: { executions: documentOf(trees.get(alias) ?? []) }, permanent: built_in },
        ]),
      );
    },
    check: faults,
    async write(sql, realm, { create, update, remove }) {
      if (create.length > 0)
        await sql`insert into flow (realm_id, alias) select ${realm}, unnest(${create.map((s) => s.key)}::text[])`;
      const saved = [...create, ...update];
      const aliases = saved.map((s) => s.key);
      const stored = await readTrees(sql, realm, aliases);
      const rows = saved.flatMap((flow) => {
        const read = rowsFor(withIds(executionsOf(flow), nest(stored.get(flow.key) ?? [])));
        return 'errors' in read ? [] : read.rows.map((row) => ({ alias: flow.key, ...row }));
      });
      await sql`delete from flow_execution where realm_id = ${realm} and flow_alias = any(${aliases}::text[])
        and not execution_id = any(${rows.map((r) => r.executionId)}::uuid[])`;
      await sql`
        insert into flow_execution (realm_id, flow_alias, execution_id, parent_id, name, authenticator_id, requirement,
          condition, priority, config)
        select ${realm}, alias, "executionId", "parentId", name, "authenticatorId", requirement, condition, priority, config
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (alias text, "executionId" uuid, "parentId" uuid,
          name text, "authenticatorId" text, requirement text, condition boolean, priority int, config jsonb)
        on conflict (realm_id, flow_alias, execution_id) do update set parent_id = excluded.parent_id,
          name = excluded.name, authenticator_id = excluded.authenticator_id, requirement = excluded.requirement,
          condition = excluded.condition, priority = excluded.priority, config = excluded.config`;
      if (remove.length > 0) await sql`delete from flow where realm_id = ${realm} and alias = any(${remove}::text[])`;
    },
    dependents: async (sql, realm, removed) => {
      const rows = await sql<{ kind: string; key: string; on: string; field: string }>`
        select 'settings' as kind, 'browserFlow' as key, coalesce(settings ->> 'browserFlow', 'browser') as on, 'value' as field
        from realm where realm_id = ${realm} and coalesce(settings ->> 'browserFlow', 'browser') = any(${removed}::text[])
        union all
        select 'client', client_id, flow_override, 'flowOverride' from client
        where realm_id = ${realm} and flow_override = any(${removed}::text[])
        union all
        select 'application', name, flow_override, 'flowOverride' from application
        where realm_id = ${realm} and flow_override = any(${removed}::text[])
        union all
        select 'identityProvider', alias, first_login_flow, 'firstLoginFlow' from identity_provider
        where realm_id = ${realm} and first_login_flow = any(${removed}::text[])
        union all
        select 'samlClient', entity_id, flow_override, 'flowOverride' from saml_client
        where realm_id = ${realm} and flow_override = any(${removed}::text[])`;
      return rows;
    },
    events: { create: 'FLOW_CREATED', update: 'FLOW_UPDATED', delete: 'FLOW_DELETED' },
  };
}
