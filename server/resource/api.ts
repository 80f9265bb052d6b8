// Owns: the admin API's requests for a plain resource: list, get, create, replace, delete, each write a batch of one.
// Does not own: what the kind is (resource.ts), routes of its own that a kind has beside these.
// Implements: specification 4.10; decisions "Reading and writing", "Rights".
import type { By } from '../contract/events.ts';
import { type FieldError, Problem } from '../contract/problem.ts';
import type { Fragment, Sql } from '../db/sql.ts';
import type { Transact, Tx } from '../db/transact.ts';
import type { Expect } from '../http/etag.ts';
import type { Principal } from '../http/principal.ts';
import { same, wantedOf } from './compare.ts';
import type { Fields, PlannedChange, RealmPart } from './part.ts';
import { danglingReferences } from './references.ts';
import type { Resource } from './resource.ts';
import { refuseEscalation } from './rights.ts';
import { comparedSecrets } from './secrets.ts';
import type { Row } from './table.ts';
import { faultsOf, writeChanges } from './write.ts';

/** Who writes, and under which condition. */
export interface Caller {
  principal: Principal;
  by: By;
  expect: Expect;
}
export type Address = { id: string } | { key: string };

export interface ResourceApiDeps {
  sql: Sql;
  transact: Transact;
  /** Every kind of the realm document, in its order. */
  parts: readonly RealmPart[];
  newId: () => string;
}

export function createResourceApi({ sql, transact, parts, newId }: ResourceApiDeps) {
  /** What holds for a change by whatever way it comes. */
  async function carryOut(
    tx: Tx,
    { principal, by }: Caller,
    realm: string,
    { of, change }: { of: RealmPart; change: PlannedChange },
  ): Promise<void> {
    const changes = [change];
    const saved = wantedOf(change);
    if (change.action !== 'delete') {
      const item = { key: change.key, fields: change.save, path: '' };
      refuse([
        ...faultsOf(of, realm, [saved]),
        ...(await danglingReferences(tx.sql, { realm, parts, declared: [{ part: of, items: [item] }], changes })),
      ]);
      refuse((await of.whole?.(tx.sql, realm, [saved])) ?? []);
    }
    await refuseEscalation(tx.sql, { realm, principal, parts: [of], changes });
    await writeChanges(tx, { realm, by, parts: [of], changes, newId });
  }

  async function load(on: Sql, realm: string, of: Resource, at: Address, lock = false): Promise<Row> {
    const row = await of.table.find(on, realm, at, { lock });
    if (!row) throw new Problem('not-found', `There is no such ${of.label}`);
    return row;
  }

  async function refuseTaken(on: Sql, realm: string, of: Resource, key: string): Promise<void> {
    if (await of.table.find(on, realm, { key }))
      throw new Problem('name-taken', `There is a ${of.label} ${key} already`);
  }

  /** What a request makes of the object; undefined where it is so already. */
  async function update(
    on: Sql,
    realm: string,
    of: Resource,
    { row, input }: { row: Row; input: Fields },
  ): Promise<PlannedChange | undefined> {
    const wanted = of.fieldsOf(input);
    const before = await comparedSecrets(of, wanted, row.fields);
    const key = await of.nameOf(on, realm, input, row);
    const fields = Object.keys(wanted)
      .sort()
      .filter((field) => !same(before[field] ?? null, wanted[field] ?? null))
      .map((path) => ({ path, from: before[path] ?? null, to: wanted[path] ?? null }));
    if (fields.length === 0 && key === row.key) return undefined;
    return {
      action: 'update',
      kind: of.kind,
      key,
      id: row.id,
      ...(key !== row.key && { renamedFrom: row.key }),
      path: '',
      fields,
      before: row.fields,
      save: { ...before, ...wanted },
    };
  }

  return {
    list: async (
      of: Resource,
      realm: string,
      page: { after: string | undefined; limit: number; search?: string | undefined; filter?: Fragment | undefined },
    ): Promise<{ key: string; wire: Record<string, unknown> }[]> =>
      (await of.table.page(sql, realm, page)).map((row) => ({ key: row.key, wire: of.toWire(realm, row) })),

    get: (of: Resource, realm: string, at: Address): Promise<Row> => load(sql, realm, of, at),

    create: (of: Resource, caller: Caller, realm: string, input: Fields): Promise<Row> =>
      transact(realm, async (tx) => {
        const id = newId();
        const key = await of.nameOf(tx.sql, realm, input, undefined);
        const wanted = of.fieldsOf(input);
        await refuseTaken(tx.sql, realm, of, key);
        const change: PlannedChange = {
          action: 'create',
          kind: of.kind,
          key,
          id,
          path: '',
          fields: Object.keys(wanted)
            .sort()
            .map((path) => ({ path, from: null, to: wanted[path] })),
          save: { ...of.fresh(realm, key), ...wanted },
        };
        await carryOut(tx, caller, realm, { of, change });
        return load(tx.sql, realm, of, { id });
      }),

    /** A field that is left out keeps its value; what changes nothing writes nothing. */
    replace: (of: Resource, caller: Caller, realm: string, at: Address, input: Fields): Promise<Row> =>
      transact(realm, async (tx) => {
        const seen = await load(tx.sql, realm, of, at);
        caller.expect(of.toWire(realm, seen));
        if (!(await update(tx.sql, realm, of, { row: seen, input }))) return seen;
        const row = await load(tx.sql, realm, of, { id: seen.id }, true);
        caller.expect(of.toWire(realm, row));
        const change = await update(tx.sql, realm, of, { row, input });
        // Somebody else wrote the very same meanwhile: run again, find nothing to change and write nothing.
        if (!change) throw Object.assign(new Error('the same was written meanwhile'), { code: SERIALIZATION_FAILURE });
        if (change.renamedFrom !== undefined) await refuseTaken(tx.sql, realm, of, change.key);
        await carryOut(tx, caller, realm, { of, change });
        return load(tx.sql, realm, of, { id: row.id });
      }),

    remove: (of: Resource, caller: Caller, realm: string, at: Address): Promise<void> =>
      transact(realm, async (tx) => {
        const row = await load(tx.sql, realm, of, at, true);
        caller.expect(of.toWire(realm, row));
        if (of.permanent?.(row)) throw new Problem('built-in', `The ${of.label} ${row.key} is built in`);
        const { id, key, fields: before } = row;
        const change: PlannedChange = {
          action: 'delete',
          kind: of.kind,
          key,
          id,
          path: '',
          fields: [],
          before,
          save: {},
        };
        await carryOut(tx, caller, realm, { of, change });
      }),
  };
}
export type ResourceApi = ReturnType<typeof createResourceApi>;

const SERIALIZATION_FAILURE = '40001';

function refuse(errors: FieldError[]): void {
  if (errors.length === 0) return;
  throw new Problem('invalid-request', errors.map((e) => `${e.path}: ${e.message}`).join('; '), { errors });
}
