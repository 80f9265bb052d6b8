// Owns: the limit for wrong guesses of stored secrets. A plan shows whether a literal is the stored secret, so a plan that
// writes nothing is a guess. The same wrong value again reveals nothing new and doesn't count; a replaced secret can't be
// guessed any more. The count is in the database: all replicas share it, and it outlives each of them.
// Does not own: comparing (resource/secrets.ts), the permission to compare (rights.ts).
// Implements: decisions "Import, export, plan" (Secrets in a document).
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { GuessCount } from '../../../resource/secrets.ts';

/** The count for documents without secrets. */
export const NONE: GuessCount = {
  begin: () => Promise.reject(new Error('nothing here compares a secret')),
  wrong() {},
};

/** The most different wrong values for one secret by one principal. */
const MOST = 10;
const WINDOW_MS = 900_000;

export interface Guesser {
  principal: { id: string };
  realm: string;
}

export function createGuesses({ realmSql, seal, now }: { realmSql: RealmSql; seal: Seal; now: () => Date }) {
  /** Requests in progress that compare a principal's secret: each may turn out to be a guess. */
  const inProgress = new Map<string, number>();
  const change = (key: string, by: number) => {
    const next = (inProgress.get(key) ?? 0) + by;
    if (next > 0) inProgress.set(key, next);
    else inProgress.delete(key);
  };
  const since = () => new Date(now().getTime() - WINDOW_MS);
  const tooMany = (oldest?: Date) => {
    const waitMs = oldest ? oldest.getTime() + WINDOW_MS - now().getTime() : 0;
    return new Problem('too-many-requests', 'Too many values were tried for a secret that is stored here', {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  };

  return {
    /**
     * Runs `work`, and counts its wrong values if it wrote nothing: `writes` is false, or it fails.
     * @throws Problem `too-many-requests` in place of the result or error of `work`
     */
    async counted<T>(
      { principal, realm }: Guesser,
      { writes }: { writes: boolean },
      work: (guessCount: GuessCount) => Promise<T>,
    ): Promise<T> {
      const tested = new Set<string>();
      const wrong = new Map<string, { secret: string; digest: Buffer }>();
      const keyOf = (secret: string) => `${realm} ${principal.id} ${secret}`;

      const guessCount: GuessCount = {
        async begin(sql, secrets) {
          // an object may have several secrets, which count as one
          const fresh = [...new Set(secrets)].filter((secret) => !tested.has(secret));
          for (const secret of fresh) {
            tested.add(secret);
            change(keyOf(secret), 1);
          }
          if (fresh.length === 0) return;
          const rows = await counted(sql, realm, principal.id, fresh, since());
          const found = new Map(rows.map((row) => [row.secret_id, row]));
          for (const secret of fresh) {
            const { guesses, oldest } = found.get(secret) ?? { guesses: 0, oldest: undefined };
            if (guesses + (inProgress.get(keyOf(secret)) ?? 0) > MOST) throw tooMany(oldest);
          }
        },
        wrong(secret, value) {
          const digest = seal.digest(value, `guess:${realm}:${secret}`);
          wrong.set(`${secret} ${digest.toString('hex')}`, { secret, digest });
        },
      };
      /** Counts the guesses. If another replica's guesses reach the limit meanwhile, this caller learns nothing either. */
      async function count(): Promise<void> {
        if (wrong.size === 0) return;
        await insert(realmSql(realm), realm, principal.id, [...wrong.values()], now(), since());
        const rows = await counted(realmSql(realm), realm, principal.id, [...tested], since());
        const over = rows.find(({ guesses }) => guesses > MOST);
        if (over) throw tooMany(over.oldest);
      }

      try {
        const result = await work(guessCount).catch(async (error: unknown) => {
          await count();
          throw error;
        });
        if (!writes) await count();
        else if (wrong.size > 0) await forget(realmSql(realm), realm, principal.id, [...wrong.values()]);
        return result;
      } finally {
        for (const secret of tested) change(keyOf(secret), -1);
      }
    },
  };
}
export type Guesses = ReturnType<typeof createGuesses>;

const counted = (sql: Sql, realm: string, principal: string, secrets: readonly string[], since: Date) => sql<{
  secret_id: string;
  guesses: number;
  oldest: Date;
}>`
  select secret_id, count(*)::int as guesses, min(guessed_at) as oldest from secret_guess
  where realm_id = ${realm} and principal_id = ${principal} and secret_id = any(${secrets}::uuid[])
    and guessed_at > ${since}
  group by secret_id`;

async function insert(
  sql: Sql,
  realm: string,
  principal: string,
  wrong: readonly { secret: string; digest: Buffer }[],
  at: Date,
  since: Date,
): Promise<void> {
  await sql`
    insert into secret_guess as g (realm_id, principal_id, secret_id, digest, guessed_at)
    select ${realm}, ${principal}, secret, decode(digest, 'hex'), ${at}
    from unnest(${wrong.map((w) => w.secret)}::uuid[], ${wrong.map((w) => w.digest.toString('hex'))}::text[])
      as x (secret, digest)
    order by secret, digest
    on conflict (realm_id, principal_id, secret_id, digest) do update set guessed_at = excluded.guessed_at
      where g.guessed_at <= ${since}`;
}

async function forget(
  sql: Sql,
  realm: string,
  principal: string,
  replaced: readonly { secret: string }[],
): Promise<void> {
  await sql`
    delete from secret_guess where realm_id = ${realm} and principal_id = ${principal}
      and secret_id = any(${replaced.map((r) => r.secret)}::uuid[])`;
}
