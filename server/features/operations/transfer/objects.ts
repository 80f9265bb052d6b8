// The present state of objects of several kinds, without their secrets.
import type { Sql } from '../../../db/sql.ts';
import type { Existing, RealmPart } from '../../../resource/part.ts';
import { chunks, nameOf } from '../../../resource/references.ts';
import { compareSecrets } from '../../../resource/secrets.ts';
import { NONE } from './guesses.ts';

/** @returns the objects by {@link nameOf}, without missing ones */
export async function objectsOf(
  sql: Sql,
  realm: string,
  parts: readonly RealmPart[],
  named: readonly { kind: string; key: string }[],
): Promise<ReadonlyMap<string, Existing>> {
  const found = new Map<string, Existing>();
  for (const part of parts) {
    const keys = named.filter(({ kind }) => kind === part.kind).map(({ key }) => key);
    for (const chunk of chunks(keys)) {
      const stored = await part.read(sql, realm, chunk);
      for (const [key, existing] of await compareSecrets(part, [], stored, { sql, guessCount: NONE }))
        found.set(nameOf(part.kind, key), existing);
    }
  }
  return found;
}
