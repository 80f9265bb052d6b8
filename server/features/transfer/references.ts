// What a document removes must not be needed by anybody else.
// What the declared objects name is resource/references.ts's. Decisions "Import, export, plan".
import { Problem } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import type { PlannedChange, RealmPart } from '../../resource/part.ts';
import { chunks, nameOf, namesOf } from '../../resource/references.ts';
import type { Section } from './document.ts';
import * as store from './store.ts';

interface Needed {
  kind: string;
  key: string;
  on: string;
  manager?: string;
}

/** @throws Problem `flow-in-use`, `in-use` where something stays that needs what is removed */
export async function refuseDependents(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    manager,
    changes,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    declared: readonly Section[];
    manager: string;
    changes: readonly PlannedChange[];
  },
): Promise<void> {
  const byKey = new Map(changes.map((c) => [nameOf(c.kind, c.key), c]));
  for (const part of parts) {
    const removed = changes.filter((c) => c.kind === part.kind && c.action === 'delete').map((c) => c.key);
    if (removed.length === 0 || !part.dependents) continue;
    const left = (await part.dependents(sql, realm, removed)).filter(({ kind, key, field }) => {
      const change = byKey.get(nameOf(kind, key));
      if (change?.action === 'delete') return false;
      return field === undefined || !change?.fields.some((f) => f.path === field);
    });
    refuseNeeded(part.kind, left);
  }
  const gone = namesOf(changes, 'delete');
  if (gone.size === 0) return;
  const held = new Set(declared.flatMap(({ part, items }) => items.map((item) => nameOf(part.kind, item.key))));
  for (const [kind, left] of await neededElsewhere(sql, { realm, parts, manager, gone, held }))
    refuseNeeded(kind, left);
}

/** What other managers declare by the name of a removed object: it would vanish there without a word in any plan. */
async function neededElsewhere(
  sql: Sql,
  {
    realm,
    parts,
    manager,
    gone,
    held,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    manager: string;
    gone: ReadonlySet<string>;
    held: ReadonlySet<string>;
  },
): Promise<Map<string, Needed[]>> {
  const needed = new Map<string, Needed[]>();
  for (const part of parts) {
    const { references } = part;
    if (!references) continue;
    const owned = (await store.readOwnedElsewhere(sql, realm, part.kind, manager)).filter(
      ({ key }) => !held.has(nameOf(part.kind, key)),
    );
    for (const chunk of chunks(owned)) {
      const keys = chunk.map(({ key }) => key);
      const current = await part.read(sql, realm, keys);
      for (const { key, fields, manager: owner } of chunk) {
        const there = current.get(key)?.fields;
        if (!there) continue;
        const theirs = Object.fromEntries(fields.map((field) => [field, there[field]]));
        for (const { kind, key: on } of references({ key, fields: theirs, path: '' }))
          if (gone.has(nameOf(kind, on))) {
            const found = { kind: part.kind, key, on, manager: owner };
            const others = needed.get(kind);
            if (others) others.push(found);
            else needed.set(kind, [found]);
          }
      }
    }
  }
  return needed;
}

function refuseNeeded(removed: string, left: readonly Needed[]): void {
  const [first] = left;
  if (!first) return;
  const whose = first.manager === undefined ? '' : `, which ${first.manager} manages`;
  const more = left.length > 1 ? ` and ${left.length - 1} more` : '';
  throw new Problem(
    removed === 'flow' ? 'flow-in-use' : 'in-use',
    `The ${removed} ${first.on} is needed by the ${first.kind} ${first.key}${whose}${more}: change those first, or keep it`,
    { extra: { dependents: left.slice(0, 100).map(({ kind, key, on }) => ({ kind, key, on })) } },
  );
}
