// Owns: what an import must do, as a small pure model: objects, who owns which fields of them, and a document applied to both.
// Does not own: how the server does it (features/operations/transfer): this shares no line with it.
// Implements: decisions "Import, export, plan" (Ownership), for tests that compare.
import type { RealmDocument } from '../../server/contract/transfer.ts';

export type Fields = Readonly<Record<string, unknown>>;
interface Owner {
  manager: string;
  fields: readonly string[];
  /** Its manager declares it no more, and something needs it. */
  kept?: boolean;
}
/** By `kind key`; an owned object may be deleted already. */
export interface World {
  things: ReadonlyMap<string, Fields>;
  owners: ReadonlyMap<string, Owner>;
}
export interface Ask {
  manager: string;
  force: boolean;
  prune: boolean;
}
export interface Applied {
  world: World;
  /** `action kind key`, and `path: from → to` of each field. */
  changes: string[];
  moves: string[];
  kept: string[];
  /** Configuration changes, or changes hands. */
  raises: boolean;
}
export type Outcome = Applied | { refused: string };

interface Thing {
  kind: string;
  key: string;
  fields: Fields;
}

const fresh: Record<string, Fields> = {
  'settings maxLoginFailures': { value: 5 },
  'settings rememberMe': { value: false },
  'settings welcomeText': { value: null },
  role: { description: null, attributes: {} },
  group: { roles: [], attributes: {} },
  client: { name: null, enabled: true, redirectUris: [] },
  user: { firstName: null, enabled: true },
};
export const freshOf = (id: string): Fields => fresh[id] ?? fresh[id.split(' ')[0] ?? ''] ?? {};
export const emptyWorld = (): World => ({
  things: new Map(
    Object.keys(fresh)
      .filter((id) => id.includes(' '))
      .map((id) => [id, freshOf(id)]),
  ),
  owners: new Map(),
});

const set = (list: unknown): unknown => (Array.isArray(list) ? [...new Set(list)].sort() : list);
const sets = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, set(value)]));

/** Placeholders are resolved by `environment`. */
export function thingsOf(document: RealmDocument, environment: Readonly<Record<string, string>>): Thing[] {
  const named = (kind: string, list: readonly object[] = [], name: string): Thing[] =>
    list.map((object) => {
      const { [name]: key, ...fields } = Object.fromEntries(Object.entries(object));
      if (typeof fields.secret === 'string')
        fields.secret = environment[fields.secret.replace(/^\$\{(.*)\}$/, '$1')] ?? fields.secret;
      return { kind, key: String(key), fields: sets(fields) };
    });
  return [
    ...Object.entries(document.realm ?? {}).map(([key, value]) => ({ kind: 'settings', key, fields: { value } })),
    ...named('role', document.roles, 'name'),
    ...named('client', document.clients, 'clientId'),
    ...named('group', document.groups, 'path'),
    ...named('user', document.users, 'username'),
  ];
}

const idOf = ({ kind, key }: Pick<Thing, 'kind' | 'key'>) => `${kind} ${key}`;
const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
const rolesIn = (fields: Fields | undefined): unknown[] => (Array.isArray(fields?.roles) ? fields.roles : []);
const shown = (field: string, value: unknown) =>
  field === 'secret' && value !== undefined && value !== null ? '"***"' : JSON.stringify(value ?? null);

const lines = (action: string, id: string, from: Fields, to: Fields, fields: readonly string[]): string[] => [
  `${action} ${id}`,
  ...fields.map((field) => `${id} ${field}: ${shown(field, from[field])} → ${shown(field, to[field])}`),
];

export function apply({ things, owners }: World, declared: readonly Thing[], ask: Ask, withUsers: boolean): Outcome {
  const mine = (id: string) => owners.get(id)?.manager === ask.manager;
  const foreign = (id: string) => owners.has(id) && !owners.get(id)?.kept && !mine(id);
  const conflicts = declared.map(idOf).filter((id) => foreign(id) && !ask.force);
  if (conflicts.length > 0) return { refused: `409 ${conflicts.sort().join(', ')}` };

  const next = new Map(things);
  const owned = new Map(owners);
  const changes: string[] = [];
  const moves: string[] = [];
  const changed = new Set<string>();
  const held = new Set(declared.map(idOf));
  for (const thing of declared) {
    const id = idOf(thing);
    const { kind, fields } = thing;
    const names = Object.keys(fields).sort();
    const before = mine(id) || foreign(id) ? owners.get(id) : undefined;
    if (kind !== 'user') {
      if (!before || foreign(id)) moves.push(`take ${id}${before ? ` from ${before.manager}` : ''}`);
      else if (before.kept || before.fields.join() !== names.join()) moves.push(`fields ${id}`);
    }
    owned.set(id, { manager: ask.manager, fields: names });
    const was = things.get(id);
    const now: Record<string, unknown> = { ...(was ?? freshOf(id)), ...fields };
    if (ask.prune && mine(id) && kind !== 'user')
      for (const field of before?.fields ?? [])
        if (!(field in fields) && field in freshOf(id)) now[field] = freshOf(id)[field];
    next.set(id, now);
    const differing = was ? Object.keys(now).filter((field) => !same(was[field], now[field])) : names;
    if (was && differing.length === 0) continue;
    changed.add(id);
    changes.push(...lines(was ? 'update' : 'create', id, was ?? {}, now, !was && kind === 'user' ? [] : differing));
  }
  const gone = new Set<unknown>();
  const keeps: string[] = [];
  const needed = (role: string) =>
    [...owners].some(
      ([id, { manager, fields }]) =>
        manager !== ask.manager && !held.has(id) && fields.includes('roles') && rolesIn(things.get(id)).includes(role),
    );
  for (const [id, before] of ask.prune ? owners : []) {
    if (!mine(id) || held.has(id) || (id.startsWith('user ') && !withUsers)) continue;
    const was = things.get(id);
    if (was && id.startsWith('role ') && needed(id.slice('role '.length))) {
      owned.set(id, { ...before, kept: true });
      if (!before.kept) moves.push(`fields ${id}`);
      keeps.push(id);
      continue;
    }
    owned.delete(id);
    if (!id.startsWith('user ')) moves.push(`release ${id}`);
    if (id.startsWith('settings ')) {
      next.set(id, freshOf(id));
      if (was && !same(was.value, freshOf(id).value)) changes.push(...lines('update', id, was, freshOf(id), ['value']));
    } else if (was) {
      next.delete(id);
      changes.push(`delete ${id}`);
      if (id.startsWith('role ')) gone.add(id.slice('role '.length));
    }
  }
  for (const thing of declared)
    for (const role of rolesIn(thing.fields))
      if (gone.has(role) || keeps.includes(`role ${role}`) || (changed.has(idOf(thing)) && !next.has(`role ${role}`)))
        return { refused: '400' };
  const raises = moves.length > 0 || changes.some((line) => !/^(create |update |delete )?user /.test(line));
  const world = { things: withoutRoles(next, gone), owners: owned };
  return { world, changes: changes.sort(), moves: moves.sort(), kept: keeps.sort(), raises };
}

/** The objects without references to deleted roles. */
export const withoutRoles = (things: ReadonlyMap<string, Fields>, gone: ReadonlySet<unknown>): Map<string, Fields> =>
  new Map(
    [...things].map(([id, fields]) => [
      id,
      'roles' in fields ? { ...fields, roles: rolesIn(fields).filter((role) => !gone.has(role)) } : fields,
    ]),
  );
