// Owns: the defaults of a new realm, and objects without them: for exports that hold only a realm's own values.
// Does not own: the export (export.ts), the defaults themselves (each part, and the seeds of realms/service.ts).
// Implements: decisions "Import, export, plan": an absent field isn't touched, so it is what a new realm or object has.
import { bySystem } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { isSameJson } from '../../../resource/compare.ts';
import type { Fields, RealmPart } from '../../../resource/part.ts';
import { nameOf } from '../../../resource/references.ts';
import type { Realms } from '../../configuration/realms/service.ts';

/** Default fields by kind and key. */
type Seeds = ReadonlyMap<string, Fields>;

/** Rolls back the transaction that created a realm to read its defaults. */
class Looked extends Error {
  readonly seeds: Seeds;
  constructor(seeds: Seeds) {
    super('looked at');
    this.seeds = seeds;
  }
}

export function createDefaults({
  transact,
  parts,
  realms,
  newId,
}: {
  transact: Transact;
  parts: readonly RealmPart[];
  realms: Pick<Realms, 'seedInto'>;
  newId: () => string;
}) {
  let known: Promise<Seeds> | undefined;

  /** Reads the defaults from a new realm in a transaction that is rolled back at once. */
  async function learn(): Promise<Seeds> {
    const realm = `seeds-${newId()}`;
    try {
      return await transact(realm, async (tx) => {
        await realms.seedInto(tx, bySystem, realm);
        throw new Looked(await seedsOf(tx.sql, parts, realm));
      });
    } catch (error) {
      if (error instanceof Looked) return error.seeds;
      known = undefined;
      throw error;
    }
  }

  return {
    /** Call it before the export's snapshot is open. */
    seeds(): Promise<Seeds> {
      known ??= learn();
      return known;
    },
  };
}
export type Defaults = ReturnType<typeof createDefaults>;

async function seedsOf(sql: Sql, parts: readonly RealmPart[], realm: string): Promise<Seeds> {
  const seeds = new Map<string, Fields>();
  for (const part of parts)
    if (!part.fieldwise)
      for (const [key, { fields }] of await part.read(sql, realm)) seeds.set(nameOf(part.kind, key), fields);
  return seeds;
}

/** An object's fields that differ from the defaults; undefined: all are defaults. */
export function withoutDefaults(
  part: RealmPart,
  realm: string,
  { key, fields }: { key: string; fields: Fields },
  seeds: Seeds,
): Fields | undefined {
  const seeded = seeds.get(nameOf(part.kind, key));
  const anyway = seeded ?? part.fresh(realm, key);
  const own = Object.entries(fields).filter(
    ([field, value]) => !(field in anyway) || !isSameJson(value, anyway[field]),
  );
  if (own.length === 0 && (seeded || part.fieldwise)) return undefined;
  return Object.fromEntries(own);
}
