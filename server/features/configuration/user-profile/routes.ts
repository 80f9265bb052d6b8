// Owns: a realm's user profile in the admin API; part.ts has its section of the realm document.
// Does not own: its effect on users' data (domain/user-profile.ts), users (features/people/users).
// Implements: decisions "User profile".
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../contract/problem.ts';
import { getUserProfile, putUserProfile } from '../../../contract/user-profile.ts';
import { changedMeanwhile } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { readProfile } from '../../../domain/user-profile.ts';
import { bind } from '../../../http/bind.ts';
import { isSameJson, wantedOf } from '../../../resource/compare.ts';
import { shownWithManagers } from '../../../resource/managed-by.ts';
import type { PlannedChange } from '../../../resource/part.ts';
import { writeChanges } from '../../../resource/write.ts';
import { canonicalProfile, userProfilePart as part } from './part.ts';

export function userProfileRoutes(
  app: FastifyInstance,
  { sql, transact, newId }: { sql: Sql; transact: Transact; newId: () => string },
): void {
  bind(app, getUserProfile, async ({ params: { realm }, query, reply }) =>
    shownWithManagers({ sql, reply }, { realm, kinds: { userProfile: null }, query }, await readProfile(sql, realm)),
  );
  bind(app, putUserProfile, ({ params: { realm }, body: { managedBy: _, ...body }, by, expect }) =>
    transact(realm, async (tx) => {
      const look = async () => {
        const before = await readProfile(tx.sql, realm);
        expect(before);
        const was = new Map<string, unknown>(Object.entries(before));
        const changes = Object.entries(canonicalProfile(body))
          .filter(([key, to]) => !isSameJson(was.get(key), to))
          .map(
            ([key, to]): PlannedChange => ({
              action: 'update',
              kind: part.kind,
              key,
              path: key,
              fields: [{ path: 'value', from: was.get(key), to }],
              before: { value: was.get(key) },
              save: { value: to },
            }),
          );
        return { before, changes };
      };
      const seen = await look();
      if (seen.changes.length === 0) return seen.before;
      await tx.sql`select from realm where realm_id = ${realm} for no key update`;
      const { changes } = await look();
      if (changes.length === 0) throw changedMeanwhile('the same was written');
      const errors = (await part.whole?.(tx.sql, realm, changes.map(wantedOf))) ?? [];
      if (errors.length > 0)
        throw new Problem('invalid-request', errors.map((e) => `${e.path}: ${e.message}`).join('; '), { errors });
      await writeChanges(tx, { realm, by, written: 'byHand', parts: [part], changes, newId });
      return readProfile(tx.sql, realm);
    }),
  );
}
