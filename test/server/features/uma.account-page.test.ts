// The account page of somebody who owns something at a resource server: who asks, yes and no, sharing and ending it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { askUma, makeUma, ticketFor, tokensOf } from '../../support/uma.ts';

let server: TestServer;
let zoe: Awaited<ReturnType<typeof tokensOf>>;
let bob: Awaited<ReturnType<typeof tokensOf>>;
const at = `/realms/${REALM}/account`;
beforeAll(async () => {
  server = await startTestServer();
  await makeUma(server);
  zoe = await tokensOf(server, 'zoe');
  bob = await tokensOf(server, 'bob');
});
afterAll(() => server?.stop());

const pageOf = async ({ person }: typeof zoe) =>
  (await person.open(`${at}?view=applications`)).text.replaceAll(/<\/?bdi>/g, '');
/** The form of the page whose action ends so, as a browser would send it. */
function formIn(page: string, action: RegExp) {
  const form = [...page.matchAll(/<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/g)].find(([, to = '']) =>
    action.test(to),
  );
  const fields = [...(form?.[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return { to: form?.[1] ?? '', fields: fields.map(([, name = '', value = '']) => [name, value] as const) };
}
async function send(who: typeof zoe, action: RegExp, more: readonly (readonly [string, string])[] = []) {
  const { to, fields } = formIn(await pageOf(who), action);
  const answer = await who.person.once(to, {
    method: 'POST',
    body: new URLSearchParams([...fields, ...more].map(([name, value]): [string, string] => [name, value])).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return answer.headers.get('location') ?? String(answer.status);
}
const decide = async (scope: string) => {
  const form = {
    audience: 'albums',
    claim_token: bob.access,
    permission: `holiday#${scope}`,
    response_mode: 'decision',
  };
  return (await askUma(server, form)).status;
};
const request = async (...scopes: string[]) => {
  const ticket = await ticketFor(server, { resource_id: 'holiday', resource_scopes: scopes });
  return (await askUma(server, { ticket, claim_token: bob.access, submit_request: 'true' })).body.error;
};

test('whoever owns nothing sees nothing of it', async () => {
  expect(await pageOf(bob)).not.toContain('What you share');
});

test('who asks is shown to the owner, whose yes lets them in, and who asked sees how it stands', async () => {
  expect(await request('view')).toBe('request_submitted');
  expect(await pageOf(zoe)).toContain('bob asks for: view');
  expect(await pageOf(bob)).toContain('zoe has not answered yet: view');
  expect(await send(zoe, /answer$/, [['decision', 'allow']])).toBe(`${at}?said=answered`);
  expect(await decide('view')).toBe(200);
  expect(await pageOf(zoe)).toContain('bob may: view');
  expect(await pageOf(bob)).toContain('albums, by zoe: view');
});

test('a no leaves what was shared before, and a yes is to what the page showed', async () => {
  await request('edit');
  await send(zoe, /answer$/, [['decision', 'deny']]);
  expect([await decide('view'), await decide('edit')]).toEqual([200, 403]);
  expect(await pageOf(bob)).toContain('zoe said no: edit');
  expect(await request('edit')).toBe('request_denied');
});

test('sharing ends by the owner, or by whoever got it', async () => {
  expect(await send(zoe, /end$/)).toBe(`${at}?said=unshared`);
  expect(await decide('view')).toBe(403);
  const wanted = [
    ['username', 'bob'],
    ['scope', 'view'],
    ['scope', 'edit'],
  ] as const;
  expect(await send(zoe, /shares\/add$/, wanted)).toBe(`${at}?said=shared`);
  expect([await decide('view'), await decide('edit')]).toEqual([200, 200]);
  expect(await send(bob, /end$/)).toBe(`${at}?said=unshared`);
  expect(await decide('view')).toBe(403);
});

test('a form without what it needs, of another page, or about somebody else’s is refused', async () => {
  expect(await send(zoe, /shares\/add$/, [['username', 'bob']])).toBe('400');
  expect(
    await send(zoe, /shares\/add$/, [
      ['username', ''],
      ['scope', 'view'],
    ]),
  ).toBe('400');
  await send(zoe, /shares\/add$/, [
    ['username', 'bob'],
    ['scope', 'view'],
  ]);
  const { to } = formIn(await pageOf(zoe), /end$/);
  const forged = await zoe.person.post(to, { csrf: 'x' });
  expect(forged.status).toBe(403);
  expect(await decide('view')).toBe(200);
  const alice = await tokensOf(server, 'alice');
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(await pageOf(alice)) ?? [];
  await alice.person.post(to, { csrf });
  expect(await decide('view')).toBe(200);
});

test('who isn’t signed in is asked to, and nothing is done', async () => {
  const answer = await fetch(`${server.baseUrl}${at}/shares/add`, { method: 'POST', redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `/realms/${REALM}/login?for=account`]);
});
