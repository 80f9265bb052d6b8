// Owns: an installation of a given size, made by SQL: copies of a realm, and one realm with many users, clients and events.
// Does not own: the realms themselves, which the server makes (site.ts), the rows of a grown realm (support/grown.ts).
// Implements: `npm run bench:scale`: a large installation within minutes, with every index kept or built again.
import type pg from 'pg';
import { createSeal } from '../../../server/crypto/seal.ts';
import { contextOf } from '../../../server/features/configuration/keys/seed.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { grow } from '../../support/grown.ts';

/** How much an installation has. */
export interface Size {
  realms: number;
  users: number;
  clients: number;
  events: number;
}

/** The realm that grows; its users and applications sign in. */
export const GROWN_REALM = 'bench';
/** The realm whose rows the other realms have, too. */
export const TEMPLATE = 'template';
export const copyOf = (n: number): string => `tenant-${String(n).padStart(5, '0')}`;

/** Copies of a realm have its configuration, not what happened in it. */
const NOT_COPIED = ['event', 'event_block', 'event_log', 'statistic', 'former_realm', 'admin_grant'];

/** No server may run meanwhile: triggers and foreign keys are off for the copies, which are as consistent as their original. */
export async function fill(
  { url, masterKey }: { url: string; masterKey: string },
  size: Size,
  say: (line: string) => void,
): Promise<void> {
  await connectedCluster(url, async (client) => {
    await client.query(`set synchronous_commit = off; set session_replication_role = replica`);
    await copyRealms(client, size.realms - 3);
    await sealKeys(client, masterKey);
    say(`  ${size.realms} realms; ${size.users} users, ${size.clients} clients and ${size.events} events follow …`);
  });
  const { users: people, clients, events } = size;
  await grow(url, { realm: GROWN_REALM, people, clients, events, at: new Date(), log: 'left to no job' });
}

/** Each table's rows of the template, once for each copy. */
async function copyRealms(client: pg.Client, copies: number): Promise<void> {
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> all($1)
     group by 1 having 'realm_id' = any(array_agg(a.attname::text))`,
    [NOT_COPIED],
  );
  for (const { name, columns } of tables) {
    const others = columns.filter((column) => column !== 'realm_id');
    const list = others.map((column) => `, ${column}`).join('');
    await client.query(
      `insert into ${name} (realm_id${list})
       select 'tenant-' || lpad(nth_copy::text, 5, '0')${list} from ${name} t, generate_series(1, $2::int) as nth_copy where t.realm_id = $1`,
      [TEMPLATE, copies],
    );
  }
}

/** A private key is sealed for its realm alone: the copies' keys are sealed for theirs. */
async function sealKeys(client: pg.Client, masterKey: string): Promise<void> {
  const seal = createSeal([Buffer.from(masterKey, 'base64')]);
  const { rows } = await client.query<{ realm: string; id: string; sealed: Buffer }>(
    `select realm_id as realm, key_id as id, private_key as sealed from realm_key where realm_id like 'tenant-%'`,
  );
  const sealed = rows.map(({ realm, id, sealed: key }) =>
    seal.seal(seal.open(key, contextOf(TEMPLATE, id)), contextOf(realm, id)),
  );
  await client.query(
    `update realm_key k set private_key = s.sealed from unnest($1::text[], $2::uuid[], $3::bytea[]) as s (realm, id, sealed)
     where k.realm_id = s.realm and k.key_id = s.id`,
    [rows.map(({ realm }) => realm), rows.map(({ id }) => id), sealed],
  );
}
