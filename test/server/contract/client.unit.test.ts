// What the typed client makes of answers that are none: whoever calls it sees a ServerProblem, whatever came over the wire.
import { expect, test } from 'vitest';
import { allRows, createClient, ServerProblem } from '../../../server/contract/client.ts';
import { listRealms } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { importRealm } from '../../../server/contract/transfer.ts';

const summary = (realm: string) => ({ realm, displayName: realm, revision: 1 });
const clientOf = (answer: (url: string) => Response) =>
  createClient({
    baseUrl: 'https://id.example.com',
    authorize: async () => 'Bearer x',
    fetch: async (input) => answer(String(input)),
  });
const problemOf = (answer: () => Response) =>
  clientOf(answer)
    .call(listRealms)
    .then(
      () => undefined,
      (error: unknown) => (error instanceof ServerProblem ? error : undefined),
    );

/** Its headers come, and then the connection breaks. */
const broken = (status: number) =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.error(new Error('other side closed'));
      },
    }),
    { status },
  );

test.each([200, 404])(
  'an answer %i that breaks off is a server that cannot be reached, with the cause',
  async (status) => {
    const problem = await problemOf(() => broken(status));
    expect(problem).toMatchObject({ status: 0, message: 'the server at https://id.example.com cannot be reached' });
    expect(String(problem?.cause)).toContain('other side closed');
  },
);

test.each([
  ['a proxy’s page', '<html>Welcome</html>'],
  ['JSON of another kind', '[{"id":1}]'],
])('%s is told as such, in a line', async (_, text) => {
  const problem = await problemOf(() => new Response(text));
  expect(problem?.status).toBe(502);
  expect(problem?.message).toMatch(/^GET \/admin\/realms was answered with something unknown: [^\n]*$/);
});

test('all rows of a list come page after page, and no page is asked for before it is needed', async () => {
  const asked: string[] = [];
  const client = clientOf((url) => {
    asked.push(url);
    const more = !url.includes('cursor=next');
    return Response.json([summary(more ? 'one' : 'two')], {
      headers: more ? { link: '</admin/realms?cursor=next&limit=1000>; rel="next"' } : {},
    });
  });
  const found: string[] = [];
  for await (const { realm } of allRows(client, listRealms)) {
    found.push(realm);
    expect(asked).toHaveLength(found.length);
  }
  expect(found).toEqual(['one', 'two']);
  expect(asked[1]).toContain('limit=1000&cursor=next');
});

test('what is refused with 401 is asked again where it only reads; a write is left alone, and the next has a new token', async () => {
  const sent: string[] = [];
  let token = 1;
  const client = createClient({
    baseUrl: 'https://id.example.com',
    authorize: async ({ renew }) => `Bearer ${renew ? ++token : token}`,
    fetch: async (_, init) => {
      sent.push(`${init?.method} ${new Headers(init?.headers).get('authorization')}`);
      return new Response(null, { status: 401 });
    },
  });
  const params = { realm: 'acme' };
  const refused = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ status: 401 });
  await refused(client.call(createRole, { params, body: { name: 'reader' } }));
  await refused(client.call(importRealm, { params, body: {} }));
  await refused(client.call(importRealm, { params, query: { dryRun: 'true' }, body: {} }));
  await refused(client.call(listRealms));
  expect(sent).toEqual([
    'POST Bearer 1',
    'POST Bearer 2',
    'POST Bearer 3',
    'POST Bearer 4',
    'GET Bearer 4',
    'GET Bearer 5',
  ]);
});
