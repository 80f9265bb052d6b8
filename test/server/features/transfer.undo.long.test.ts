// Undo of every kind of thing: parts of a full realm, applied in any order by several managers and taken back, last first.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { undoHistory } from '../../../server/contract/history.ts';
import { listManagers, type RealmDocument } from '../../../server/contract/transfer.ts';
import { fullRealm } from '../../support/full-realm.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

/** A secret can't be taken back: it isn't recorded. */
const repeatable = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (key, one) =>
    /secret$|^accessToken$/i.test(key) && typeof one === 'string' ? undefined : one,
  );

const { users, ...full } = repeatable(fullRealm()) as RealmDocument & Record<string, unknown>;
// one realm's alone, and a host that it must have
delete full.realm?.issuer;
delete full.realm?.passkeyRpId;
// an undo is a change by hand
delete full.realm?.declaredOnly;
/** Deleting an agent switches its client off, and nothing but a person switches that on again (agents.test.ts). */
const sections = (Object.keys(full) as (keyof typeof full)[]).filter((name) => name !== 'agents');

/** Some elements of a list, some keys of a map or an object. */
const partOf = (value: unknown): fc.Arbitrary<unknown> =>
  Array.isArray(value)
    ? fc.subarray(value)
    : value !== null && typeof value === 'object'
      ? fc.subarray(Object.entries(value)).map(Object.fromEntries)
      : fc.constant(value);
/** A part, of whose elements some lack a field. */
const thinned = (value: unknown): fc.Arbitrary<unknown> =>
  partOf(value).chain((some) =>
    Array.isArray(some)
      ? fc.tuple(
          ...some.map((one) =>
            fc.oneof({ weight: 3, arbitrary: fc.constant(one) }, { weight: 1, arbitrary: lacking(one) }),
          ),
        )
      : fc.constant(some),
  );
const lacking = (element: unknown): fc.Arbitrary<unknown> => {
  if (element === null || typeof element !== 'object') return fc.constant(element);
  const entries = Object.entries(element);
  // the first is its name
  return fc.nat(entries.length - 1).map((at) => Object.fromEntries(entries.filter((_, n) => n === 0 || n !== at)));
};
const documents = fc
  .subarray(sections, { minLength: 1 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, thinned(full[name])]))));
const applies = fc.array(
  fc.record({
    document: documents,
    manager: fc.constantFrom('m1', 'm2'),
    prune: fc.constantFrom('true', 'false'),
    force: fc.constantFrom('true', 'true', 'false'),
  }),
  { minLength: 3, maxLength: 8 },
);

const owners = async (realm: string) =>
  (await server.admin.call(listManagers, { params: { realm } })).body?.map(({ manager, owns }) => ({ manager, owns }));
const stateOf = async (realm: string) => [JSON.parse(await admin.download(realm, '?users=false')), await owners(realm)];

test('ends where it began', { timeout: 900_000 }, async () => {
  let [runs, undone] = [0, 0];
  await fc.assert(
    fc.asyncProperty(applies, async (steps) => {
      runs += 1;
      const realm = `undo-${runs}`;
      // what everything else stands on is there at the start, as the realm of somebody else
      await admin.apply(realm, { ...full, users } as RealmDocument, { manager: 'm0' });
      const states: unknown[] = [];
      const revisions: number[] = [];
      for (const { document, ...query } of steps) {
        const state = await stateOf(realm);
        const answer = await admin.fetch(`/admin/realms/${realm}/import?${new URLSearchParams(query)}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(document),
        });
        const plan = (await answer.json()) as { inSync: boolean; revision: number };
        expect(answer.status).toBeLessThan(500);
        // a part may name what another applied away, or lack what an element must have
        if (answer.status !== 200 || plan.inSync) continue;
        states.push(state);
        revisions.push(plan.revision);
      }
      for (const [at, revision] of [...revisions.entries()].reverse()) {
        await server.admin.call(undoHistory, { params: { realm, revision } });
        undone += 1;
        expect(await stateOf(realm)).toEqual(states[at]);
      }
    }),
    { seed: 20_261_123, numRuns: 15, endOnFailure: true },
  );
  expect(undone).toBeGreaterThan(15);
});
