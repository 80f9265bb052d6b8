// Which methods the account page offers to add: those that a sign-in in the realm can ask for.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { createFlow, putFlow } from '../../../server/contract/flows.ts';
import { PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { makeProvider, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: REALM };
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
});
afterAll(async () => server?.stop());

async function offered(): Promise<string[]> {
  const person = createPerson(server.baseUrl);
  const form = await person.open(`/realms/${REALM}/login?for=account`);
  await person.fill(form, { username: 'alice', password: PASSWORD });
  const { text } = await person.open(`/realms/${REALM}/account?view=security`);
  const [menu = ''] = /<details class="menu">[\s\S]*?<\/details>/.exec(text) ?? [];
  return [...menu.matchAll(/<button class="quiet">([^<]*)</g)].map(([, name = '']) => name);
}

test('a device is offered only where a flow asks for it', async () => {
  expect(await offered()).toEqual(['Passkey', 'Authenticator app', 'Device', 'Recovery codes']);
  const executions = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
    { authenticatorId: 'push', requirement: 'DISABLED' as const },
    {
      name: 'Second factor',
      requirement: 'CONDITIONAL' as const,
      executions: [
        { authenticatorId: 'mfa-enabled', requirement: 'REQUIRED' as const },
        { authenticatorId: 'otp', requirement: 'ALTERNATIVE' as const },
      ],
    },
  ];
  await server.admin.call(putFlow, { params: { ...params, alias: 'browser' }, body: { executions } });
  expect(await offered()).toEqual(['Authenticator app']);
  const stricter = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
    { authenticatorId: 'push', requirement: 'REQUIRED' as const },
  ];
  await server.admin.call(createFlow, { params, body: { alias: 'stricter' } });
  await server.admin.call(putFlow, { params: { ...params, alias: 'stricter' }, body: { executions: stricter } });
  // no application uses that flow yet
  expect(await offered()).toEqual(['Authenticator app']);
  const body = { clientId: 'payments', redirectUris: ['https://pay.example/back'], flowOverride: 'stricter' };
  await server.admin.call(createClient, { params, body });
  expect(await offered()).toEqual(['Authenticator app', 'Device']);
});
