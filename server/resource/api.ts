// Owns: the admin API's requests for a plain resource: list, get, create, replace, delete, each write a batch of one.
// Does not own: the kind's declaration (resource.ts), further routes of a kind.
// Implements: specification 4.10; decisions "Reading and writing", "Rights".
import type { By } from '../contract/events.ts';
import { type FieldError, Problem } from '../contract/problem.ts';
import { fieldsOfKey } from '../contract/section.ts';
import { presentSections } from '../contract/sections.ts';
import { changedMeanwhile } from '../db/error-code.ts';
import type { Fragment, Sql } from '../db/sql.ts';
import type { Transact, Tx } from '../db/transact.ts';
import { type Principal, requirePermission } from '../domain/principal.ts';
import type { Reach } from '../domain/reach.ts';
import type { Expect } from '../http/etag.ts';
import { changeOf, createdFields, deletionOf, differences } from './change.ts';
import { wantedOf } from './compare.ts';
import type { Written } from './declared-only.ts';
import type { Existing, Fields, PlannedChange, RealmPart } from './part.ts';
import { linkPeople, namesPeople, unknownPeople } from './people.ts';
import { danglingReferences } from './references.ts';
import type { Resource } from './resource.ts';
import { refuseEscalation, refuseStronger } from './rights.ts';
import { comparedSecrets } from './secrets.ts';
import type { Row } from './table.ts';
import { faultsOf, writeChanges } from './write.ts';

/** The caller of a write, and its condition (If-Match). */
export interface Caller {
  principal: Principal;
  by: By;
  expect: Expect;
  /** The limits of an administrator of single objects. */
  reach?: Reach | undefined;
}
/** The caller of a write without a condition. */
export type Author = Pick<Caller, 'principal' | 'by'>;
export type Address = { id: string } | { key: string };

interface Made {
  id: string;
  input: Fields;
}

export interface ResourceApiDeps {
  sql: Sql;
  transact: Transact;
  /** Every kind of the realm document, in its order. */
  parts: readonly RealmPart[];
  newId: () => string;
  /** Default: by hand, so that what only documents may change is refused. */
  written?: Exclude<Written, 'byManager'>;
}

/** A change of one object with the fields that the request named; faults in other fields are not reported. */
interface Step {
  of: RealmPart;
  change: PlannedChange;
  declared: Fields;
  /** The request's path for each path of the change. */
  paths?: ReadonlyMap<string, string>;
}

/** The single writes of the admin API, by the same checks and write path as imports. */
export function createResourceApi({ sql, transact, parts, newId, written = 'byHand' }: ResourceApiDeps) {
  /** Checks and writes the changes, by the same rules for requests and documents. */
  async function writeSteps(
    tx: Tx,
    { principal, by, reach }: Caller,
    realm: string,
    steps: readonly Step[],
  ): Promise<void> {
    const removed = new Set(steps.flatMap(({ of, change }) => (change.action === 'delete' ? [of.kind] : [])));
    const touched = parts.filter(
      (part) => steps.some(({ of }) => of.kind === part.kind) || (part.fallsWith && removed.has(part.fallsWith.kind)),
    );
    const changes = steps.map(({ change }) => change);
    if (reach) for (const { of, change } of steps) refuseBeyond(of, change);
    const saved = steps.filter(({ change }) => change.action !== 'delete');
    if (saved.length > 0) {
      const named = saved.map(({ of, change: { key, path }, declared }) => ({
        part: of,
        items: [{ key, fields: declared, path }],
      }));
      if (named.some(namesPeople))
        requirePermission(principal, realm, 'users:read', 'Naming people needs the permission users:read');
      const errors = [
        ...saved.flatMap(({ of, change }) => faultsOf(of, realm, [wantedOf(change)])),
        ...(await danglingReferences(tx.sql, { realm, parts, declared: named, changes })),
      ];
      const paths = new Map(steps.flatMap((step) => [...(step.paths ?? [])]));
      errors.push(...(await unknownPeople(tx.sql, { realm, parts: touched, changes, importId: undefined })));
      refuse(errors.map((fault) => ({ ...fault, path: paths.get(fault.path) ?? fault.path })));
      for (const part of touched) refuse((await part.whole?.(tx.sql, realm, changes.map(wantedOf))) ?? []);
    }
    await refuseEscalation(tx.sql, { realm, principal, parts: touched, changes });
    await writeChanges(tx, { realm, by, written, parts: touched, changes, newId });
    await linkPeople(tx.sql, { realm, parts: touched, changes });
  }

  async function load(on: Sql, realm: string, of: Resource, at: Address, lock = false): Promise<Row> {
    const row = await of.table.find(on, realm, at, { lock });
    if (!row) throw new Problem('not-found', `There is no such ${of.label}`);
    return row;
  }

  /** Takes the parts' locks before rows are locked, as an import does. */
  async function hold(on: Sql, realm: string, steps: readonly Step[]): Promise<void> {
    for (const { of, change } of steps) await of.hold?.(on, realm, [{ ...change, fields: change.save }]);
  }

  async function refuseTaken(on: Sql, realm: string, of: Resource, key: string): Promise<void> {
    if (await of.table.find(on, realm, { key }))
      throw new Problem('name-taken', `There is a ${of.label} ${key} already`);
  }

  /** The change that a request makes to the object; undefined if it changes nothing. */
  async function update(
    on: Sql,
    realm: string,
    of: Resource,
    { row, input }: { row: Row; input: Fields },
  ): Promise<Step | undefined> {
    const wanted = of.fieldsOf(input);
    const before = await comparedSecrets(of, wanted, row.fields);
    const key = await of.nameOf(on, realm, input, row);
    const fields = differences(before, wanted);
    if (fields.length === 0 && key === row.key) return undefined;
    const change: PlannedChange = {
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
    return { of, change, declared: pick(wanted, fields) };
  }

  /** The change that a request makes to the object of another section that has some of the resource's fields. */
  async function besides(
    on: Sql,
    realm: string,
    { beside }: Resource,
    { from, key, input }: { from: string | undefined; key: string; input: Fields },
  ): Promise<Step[]> {
    if (!beside) return [];
    const said = Object.entries(beside.fields).filter(([field]) => input[field] !== undefined);
    if (said.length === 0) return [];
    const { part } = beside;
    const fields = Object.fromEntries(said.map(([field, as]) => [as, input[field]]));
    const there = from === undefined ? undefined : (await part.read(on, realm, [from])).get(from);
    const path = part.section;
    const paths = new Map(said.map(([field, as]) => [`${path}.${as}`, field]));
    return stepOf(part, realm, { key, there, fields }).map((step) => ({
      ...step,
      change: { ...step.change, path },
      paths,
    }));
  }

  /** Creates the object that `input` describes, in an open transaction. */
  async function make(tx: Tx, caller: Caller, realm: string, of: Resource, { id, input }: Made): Promise<Row> {
    const key = await of.nameOf(tx.sql, realm, input, undefined);
    const wanted = of.fieldsOf(input);
    await refuseTaken(tx.sql, realm, of, key);
    const change: PlannedChange = {
      action: 'create',
      kind: of.kind,
      key,
      id,
      path: '',
      fields: createdFields(wanted),
      save: { ...of.fresh(realm, key), ...wanted },
    };
    const others = await besides(tx.sql, realm, of, { from: undefined, key, input });
    const steps = [{ of, change, declared: wanted }, ...others];
    await hold(tx.sql, realm, steps);
    await writeSteps(tx, caller, realm, steps);
    return load(tx.sql, realm, of, { id });
  }

  const requests = {
    list: async (
      of: Resource,
      realm: string,
      page: { after: string | undefined; limit: number; search?: string | undefined; filter?: Fragment | undefined },
    ): Promise<{ key: string; wire: Record<string, unknown> }[]> =>
      (await of.table.page(sql, realm, page)).map((row) => ({ key: row.key, wire: of.toWire(realm, row) })),

    get: (of: Resource, realm: string, at: Address): Promise<Row> => load(sql, realm, of, at),

    create: (of: Resource, caller: Caller, realm: string, input: Fields): Promise<Row> =>
      transact(realm, (tx) => make(tx, caller, realm, of, { id: newId(), input })),

    /**
     * An omitted field keeps its value; a request that changes nothing writes nothing.
     * @param input the new fields, or a function that computes them from the stored object
     */
    replace: (
      of: Resource,
      caller: Caller,
      realm: string,
      at: Address,
      input: Fields | ((row: Row) => Fields),
    ): Promise<Row> =>
      transact(realm, async (tx) => {
        const inputFor = (row: Row) => (typeof input === 'function' ? input(row) : input);
        const found = await of.table.find(tx.sql, realm, at);
        if (!found && of.upsert && 'id' in at && typeof input !== 'function' && named(of, input)) {
          caller.expect({});
          return make(tx, caller, realm, of, { id: at.id, input });
        }
        const seen = found ?? (await load(tx.sql, realm, of, at));
        const steps = async (row: Row): Promise<Step[]> => {
          caller.expect(of.toWire(realm, row));
          const said = inputFor(row);
          const own = await update(tx.sql, realm, of, { row, input: said });
          const key = own?.change.key ?? row.key;
          return [...(own ? [own] : []), ...(await besides(tx.sql, realm, of, { from: row.key, key, input: said }))];
        };
        if (of.fixed) refusePermanent(of, seen);
        // Otherwise the response would tell the caller whether the secret of a client with more rights is the stored
        // one.
        if (of.secrets?.some((field) => typeof inputFor(seen)[field] === 'string'))
          await refuseStronger(tx.sql, caller.principal, realm, of.actsAs?.(untouched(of, seen)) ?? []);
        const planned = await steps(seen);
        if (planned.length === 0) return seen;
        await hold(tx.sql, realm, planned);
        const row = await load(tx.sql, realm, of, { id: seen.id }, true);
        const changes = await steps(row);
        if (changes.length === 0) throw writtenMeanwhile();
        const key = changes[0]?.change.key ?? row.key;
        if (key !== row.key) await refuseTaken(tx.sql, realm, of, key);
        await writeSteps(tx, caller, realm, changes);
        return load(tx.sql, realm, of, { id: row.id });
      }),

    remove: (of: Resource, caller: Caller, realm: string, at: Address): Promise<void> =>
      transact(realm, async (tx) => {
        const row = await load(tx.sql, realm, of, at, true);
        caller.expect(of.toWire(realm, row));
        refusePermanent(of, row);
        if (of.keptWhileNamed) await refuseNamed(tx.sql, realm, of, row.key);
        await writeSteps(tx, caller, realm, [{ of, change: deletionOf(of, row), declared: {} }]);
      }),

    /** The object of another section with the same key. */
    beside: async (of: Resource, part: RealmPart, realm: string, at: Address): Promise<Fields> => {
      const { key } = await load(sql, realm, of, at);
      return (await part.read(sql, realm, [key])).get(key)?.fields ?? part.fresh(realm, key);
    },

    /**
     * Changes the object of another section with the same key.
     * @param to computes its new fields
     */
    edit: (
      { of, part }: { of: Resource; part: RealmPart },
      caller: Caller,
      realm: string,
      at: Address,
      to: (fields: Fields) => Fields,
    ): Promise<Fields> =>
      transact(realm, async (tx) => {
        const look = async (lock: boolean) => {
          const { key } = await load(tx.sql, realm, of, at, lock);
          const there = (await part.read(tx.sql, realm, [key])).get(key);
          return { key, there, fields: there?.fields ?? part.fresh(realm, key) };
        };
        const stepsOf = ({ fields, ...at }: Awaited<ReturnType<typeof look>>) =>
          stepOf(part, realm, { ...at, fields: to(fields) });
        const seen = await look(false);
        if (stepsOf(seen).length === 0) return seen.fields;
        const steps = stepsOf(await look(true));
        if (steps.length === 0) throw writtenMeanwhile();
        await writeSteps(tx, caller, realm, steps);
        return (await look(false)).fields;
      }),
  };
  return {
    ...requests,

    /** Creates the object that the request names, or updates it if it exists. */
    async upsert(of: Resource, caller: Caller, realm: string, input: Fields): Promise<Row> {
      const key = await of.nameOf(sql, realm, input, undefined);
      const replace = () => requests.replace(of, caller, realm, { key }, input);
      if (await of.table.find(sql, realm, { key })) return replace();
      caller.expect({});
      try {
        return await requests.create(of, caller, realm, input);
      } catch (error) {
        // another request has just created it
        if (error instanceof Problem && error.code === 'name-taken') return replace();
        throw error;
      }
    },
  };
}
export type ResourceApi = ReturnType<typeof createResourceApi>;

/** Another request wrote the same values: the transaction runs again, finds no change and writes nothing. */
const writtenMeanwhile = () => changedMeanwhile('the same was written');

/** @throws Problem `privilege-escalation` for all but the fields that administrators of single objects may change */
function refuseBeyond({ open = [] }: RealmPart, { action, key, renamedFrom, fields }: PlannedChange): void {
  const other = fields.find(({ path }) => !open.includes(path))?.path;
  if (action !== 'update' || renamedFrom !== undefined || other !== undefined)
    throw new Problem(
      'privilege-escalation',
      `For ${key} alone you may change: ${open.join(', ')}, not ${other ?? 'its name'}`,
    );
}

function refuse(errors: FieldError[]): void {
  if (errors.length === 0) return;
  throw new Problem('invalid-request', errors.map((e) => `${e.path}: ${e.message}`).join('; '), { errors });
}

async function refuseNamed(sql: Sql, realm: string, of: Resource, key: string): Promise<void> {
  const named = (await of.dependents?.(sql, realm, [key])) ?? [];
  const { keptWhileNamed: kinds } = of;
  const by = named.find(
    ({ kind, field }) => field !== null && (kinds === true || (typeof kinds === 'object' && kinds.includes(kind))),
  );
  if (by) throw new Problem('in-use', `The ${of.label} ${key} is named by the ${by.kind} ${by.key}: change that first`);
}

function refusePermanent(of: Resource, row: Row): void {
  if (of.permanent?.(row)) throw new Problem('built-in', `The ${of.label} ${row.key} is built in`);
}

const named = (of: Resource, input: Fields): boolean =>
  fieldsOfKey(presentSections.get(of.section)?.key).every((field) => input[field] !== undefined);

const untouched = ({ kind }: Resource, { id, key, fields }: Row): PlannedChange => ({
  action: 'update',
  kind,
  key,
  id,
  path: '',
  fields: [],
  before: fields,
  save: fields,
});

const pick = (wanted: Fields, fields: PlannedChange['fields']): Fields =>
  Object.fromEntries(fields.map(({ path }) => [path, wanted[path]]));

/** The step that gives an object these fields, as a document with only this object would; undefined if it has them already. */
function stepOf(
  of: RealmPart,
  realm: string,
  { key, there, fields }: { key: string; there: Existing | undefined; fields: Fields },
): Step[] {
  const keys = fieldsOfKey(presentSections.get(of.section)?.key);
  const { items, errors } = of.parse({ ...fields, ...Object.fromEntries(keys.map((field) => [field, key])) }, '');
  if (errors) refuse(errors);
  const wanted = items?.[0]?.fields ?? {};
  const change = changeOf(of, realm, { key, there, wanted });
  return change ? [{ of, change, declared: pick(wanted, change.fields) }] : [];
}
