// Owns: the one decision whether an object may be changed by hand: its section may be declared only (the setting `declaredOnly`).
// Does not own: the setting (features/configuration/settings), documents of managers, holds (features/operations/holds).
// Implements: decisions "Declared only".
import { isByHand, locksSection, unnamedManagers } from '../contract/declared-only.ts';
import { Problem } from '../contract/problem.ts';
import { sectionNames } from '../contract/section-names.ts';
import type { Sql } from '../db/sql.ts';
import type { PlannedChange, RealmPart } from './part.ts';

/**
 * How an object comes to be written. `byHand`: a request of an administrator or of a provisioning client; `byManager`: a manager's
 * document; `byServer`: the server itself, by what the configuration says (a directory's groups, clients that register themselves).
 */
export type Written = 'byHand' | 'byManager' | 'byServer';

/** An object that a request changes. */
export type Touched = Pick<PlannedChange, 'kind' | 'key' | 'renamedFrom'>;

/** Of a hold: all objects of the kind. */
const ALL = '';
/** The setting itself is never locked: an administrator of managers can lift it. */
const SETTING: Touched = { kind: 'settings', key: 'declaredOnly' };
const MOST_NAMED = 3;
const MOST_LISTED = 100;

const sectionOf = new Map<string, string>(Object.entries(sectionNames).map(([section, { kind }]) => [kind, section]));

/** Kinds in words. Only a refusal needs them, and a start does without all sections' fields. */
async function readLabels(): Promise<(kind: string) => string> {
  const { presentSections } = await import('../contract/sections.ts');
  const labels = new Map([...presentSections.values()].map(({ kind, label }) => [kind, label]));
  return (kind) => labels.get(kind) ?? kind;
}

interface LockedRow {
  n: number;
  manager: string | null;
}

/** The setting of the realm, as it is stored. */
async function readDeclaredOnly(sql: Sql, realm: string): Promise<readonly string[]> {
  const [row] = await sql<{ sections: string[] | null }>`
    select settings -> 'declaredOnly' as sections from realm where realm_id = ${realm}`;
  return row?.sections ?? [];
}

/** Whether the realm's objects of a kind are declared only. */
export async function lockedKinds(sql: Sql, realm: string): Promise<(kind: string) => boolean> {
  const declaredOnly = await readDeclaredOnly(sql, realm);
  return (kind) => locksSection(declaredOnly, sectionOf.get(kind) ?? kind);
}

/** The objects on which no hold stands, with their managers. */
async function unheld(sql: Sql, realm: string, touched: readonly Touched[]): Promise<LockedRow[]> {
  const kinds = touched.map(({ kind }) => kind);
  const keys = touched.map(({ key }) => key);
  const former = touched.map(({ key, renamedFrom }) => renamedFrom ?? key);
  return sql<LockedRow>`
    select (t.n - 1)::int as n, m.manager
    from unnest(${kinds}::text[], ${keys}::text[], ${former}::text[]) with ordinality as t (kind, key, former, n)
    left join managed_object m on m.realm_id = ${realm} and m.kind = t.kind and m.key = t.former
    where not exists (select from held_object h
      where h.realm_id = ${realm} and h.kind = t.kind and h.key in (${ALL}, t.key, t.former))
    order by t.n`;
}

/** Managers that own objects of the kind. */
async function managersOfKind(sql: Sql, realm: string, kind: string): Promise<string[]> {
  const rows = await sql<{ manager: string }>`
    select distinct manager from managed_object where realm_id = ${realm} and kind = ${kind}
      and manager <> all(${unnamedManagers}::text[])
    order by manager limit ${MOST_NAMED}`;
  return rows.map(({ manager }) => manager);
}

/** Whether a manager has applied a document to the realm. An import that names no manager doesn't count. */
export async function hasManager(sql: Sql, realm: string): Promise<boolean> {
  const [row] =
    await sql`select from manager where realm_id = ${realm} and name <> all(${unnamedManagers}::text[]) limit 1`;
  return row !== undefined;
}

/** The message to an administrator who sets `declaredOnly` in a realm without managers. */
export const NO_MANAGER =
  'no manager has applied a document to this realm: apply one first, with a manager’s name (realmctl apply, or the operator)';

async function problemOf(
  locked: readonly (Touched & { manager: string | null })[],
  { kind }: Touched,
  managers: readonly string[],
): Promise<Problem> {
  const labelOf = await readLabels();
  const wordsOf = (one: Touched) =>
    `the ${labelOf(one.kind)}${one.kind === 'settings' || one.key !== '' ? ` ${one.key}` : ''}`;
  const named = locked.slice(0, MOST_NAMED).map(wordsOf).join(', ');
  const more = locked.length > MOST_NAMED ? ` and ${locked.length - MOST_NAMED} more` : '';
  const who =
    managers.length === 0
      ? `No manager declares any ${labelOf(kind)} yet`
      : `${managers.join(', ')} ${managers.length === 1 ? 'declares' : 'declare'} them here`;
  const owner = locked.length === 1 ? locked[0]?.manager : null;
  const declares = owner ? `${owner} declares it` : who;
  return new Problem(
    'declared-only',
    `Only a document may change ${named}${more} (setting declaredOnly). ${declares}. Change the declaration, or place a hold (POST …/holds, realmctl hold) and change it by hand while the hold stands`,
    {
      extra: { locked: locked.slice(0, MOST_LISTED).map(({ kind: of, key, manager }) => ({ kind: of, key, manager })) },
    },
  );
}

/**
 * Call it in the transaction of every change by hand, and of every plan of one.
 * @throws Problem `declared-only` naming the objects, their manager, and what the caller can do
 */
export async function refuseDeclaredOnly(sql: Sql, realm: string, touched: readonly Touched[]): Promise<void> {
  const candidates = touched.filter(({ kind, key }) => kind !== SETTING.kind || key !== SETTING.key);
  if (candidates.length === 0) return;
  const isLocked = await lockedKinds(sql, realm);
  const inSection = candidates.filter(({ kind }) => isLocked(kind));
  if (inSection.length === 0) return;
  const locked = (await unheld(sql, realm, inSection)).flatMap(({ n, manager }) => {
    const one = inSection[n];
    return one ? [{ ...one, manager: manager !== null && isByHand(manager) ? null : manager }] : [];
  });
  const [first] = locked;
  if (!first) return;
  const owners = [...new Set(locked.flatMap(({ manager }) => manager ?? []))].slice(0, MOST_NAMED);
  throw await problemOf(locked, first, owners.length > 0 ? owners : await managersOfKind(sql, realm, first.kind));
}

/** A plan of a document that no manager applies. @throws Problem `declared-only` */
export async function refuseDocumentByHand(
  sql: Sql,
  realm: string,
  {
    parts,
    changes,
    moves,
  }: {
    parts: readonly RealmPart[];
    changes: readonly PlannedChange[];
    moves: readonly (Touched & { action: string })[];
  },
): Promise<void> {
  // what it would only take over is refused as well: the operator could not declare it any more
  const taken = moves.filter(({ action }) => action === 'take');
  const touched = [...ofConfiguration(parts, changes), ...taken];
  const unique = new Map(touched.map((one) => [JSON.stringify([one.kind, one.key]), one]));
  await refuseDeclaredOnly(sql, realm, [...unique.values()]);
}

/** The changes of configuration: those of lists of users alone, such as an agent's owner, are run-time data. */
export const ofConfiguration = (parts: readonly RealmPart[], changes: readonly PlannedChange[]): PlannedChange[] => {
  const people = new Map(parts.map((part) => [part.kind, part.people ?? []]));
  return changes.filter(
    ({ action, kind, renamedFrom, fields }) =>
      action !== 'update' ||
      renamedFrom !== undefined ||
      fields.length === 0 ||
      fields.some(({ path }) => !people.get(kind)?.includes(path)),
  );
};
