// Owns: what the audit log says of a person is found by indexes, wherever an event names them.
// Does not own: what is made of it (erasure.unit.test.ts), the chain (chain.test.ts).
// Implements: specification 4.6, 6.1.
import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { maybeTelling } from '../../../server/events/erasure.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const bare = bareDatabase({ max: 2 });
const REALM = 'acme';
beforeAll(async () => {
  await bare.sql`insert into realm (realm_id, created_at) values (${REALM}, now()), ('other', now()), ('master', now()) on conflict do nothing`;
  // Others' doing: as many rows as make reading them all dearer than an index.
  await bare.sql`
    insert into event (realm_id, id, type, occurred_at, actor, subject, outcome, data)
    select ${REALM}, gen_random_uuid(), 'TOKEN_ISSUED', now(), null, jsonb_build_object('type', 'user', 'id', gen_random_uuid(), 'name', 'u' || n),
      'success', jsonb_build_object('grant', 'refresh_token', 'sessionId', gen_random_uuid())
    from generate_series(1, 20000) n`;
  await bare.sql`analyze event`;
}, 120_000);

const person = { id: newId(), username: 'Ana', ownEmail: 'ana@x.test' };
const user = (id: string | null, name: string | null) => ({ type: 'user', id, name });
async function write(event: { realm?: string; actor?: object; subject?: object; data?: object }): Promise<string> {
  const id = newId();
  const { realm = REALM, actor = null, subject = null, data = {} } = event;
  await bare.sql`
    insert into event (realm_id, id, type, occurred_at, actor, subject, outcome, data)
    values (${realm}, ${id}, 'X', now(), ${JSON.stringify(actor)}::jsonb, ${JSON.stringify(subject)}::jsonb, 'success', ${JSON.stringify(data)}::jsonb)`;
  return id;
}
const found = async (realm = REALM) =>
  (await bare.sql<{ id: string }>`${maybeTelling(realm, person)}`).map(({ id }) => id).sort();

test('every event that names somebody is found, and nobody else’s', async () => {
  const theirs = [
    await write({ actor: user(person.id, 'ana') }),
    await write({ subject: user(person.id, null) }),
    await write({ subject: { type: 'agent', id: person.id, name: 'x' } }),
    await write({ subject: user(null, 'ANA') }),
    await write({ data: { path: `/admin/realms/acme/users/${person.id}/roles` } }),
    await write({ data: { deep: [{ who: person.id.toUpperCase() }] } }),
    await write({ data: { deep: [{ username: 'aNa' }] } }),
    await write({ data: { email: 'ANA@x.test' } }),
  ];
  await write({ subject: user(newId(), 'ana') });
  await write({ data: { note: 'ana', role: 'ana' } });
  await write({ realm: 'other', data: { username: 'ana' } });
  const elsewhere = await write({ realm: 'other', actor: user(person.id, 'ana') });
  expect(await found()).toEqual(theirs.sort());
  expect(await found('master')).toEqual(expect.arrayContaining([elsewhere]));
});

test('none of it reads the log', async () => {
  for (const realm of [REALM, 'master']) {
    const plan = await bare.sql`explain ${maybeTelling(realm, person)}`;
    expect(JSON.stringify(plan)).not.toContain('Seq Scan on event');
  }
});
