// Owns: journeys of an administrator who sets something up: each wizard to a thing that works, the first steps, a flow, the look.
// Does not own: the list of all journeys (journeys.long.test.ts), faults at a wizard's questions (wizards.test.ts).
// Implements: decisions "Console": journeys by the keyboard alone, in narrow, dark, enlarged and mirrored windows, axe at each stop.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { createClient, listClients } from '../../server/contract/clients.ts';
import { createFlow, getFlow } from '../../server/contract/flows.ts';
import { listSamlClients } from '../../server/contract/saml-clients.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { createUser, listUsers } from '../../server/contract/users.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import type { Hand } from '../support/console-hand.ts';
import { type Journey, type Start, testJourneys } from '../support/console-journeys.ts';
import { type MailServer, startMailServer } from '../support/gateways.ts';
import { createPerson } from '../support/person.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../support/slapd.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let folder: string;
let mail: MailServer;
let receiver: Receiver;
let upstream: Upstream;
let slapd: Slapd;

const shop = async ({ server, realm }: Start): Promise<Record<string, string>> => {
  const body = { clientId: 'shop', secret: 's'.repeat(40), redirectUris: ['https://shop.example/callback'] };
  return { id: (await server.admin.call(createClient, { params: { realm }, body })).body?.id ?? '' };
};
/** From the first page of the realm to a wizard. */
async function begin(hand: Hand, realm: string, wizard: RegExp, variant?: RegExp) {
  await hand.open(`/realms/${realm}`);
  await hand.follow('Set up');
  await hand.heading('Set up');
  await hand.press(hand.page.getByRole('link', { name: wizard }));
  if (variant) await hand.press(hand.page.getByRole('link', { name: variant }));
}
async function save(hand: Hand) {
  await hand.press(hand.page.getByRole('button', { name: 'Review and create' }));
  const create = hand.page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true });
  await create.and(hand.page.locator(':enabled')).waitFor();
  await hand.press(create);
}

/** An application that signs people in: made, and its sign-in page opened. */
const application = (name: string, variant: RegExp, redirect: string): Journey => ({
  name,
  async walk(hand, { realm, server }) {
    const { page } = hand;
    await begin(hand, realm, /Add an application/, variant);
    await hand.fill(page.getByLabel('Client ID', { exact: true }), 'shop');
    await hand.fill(page.getByLabel('Redirect URIs, 1'), redirect);
    await hand.stop('the settings of an application');
    await save(hand);
    await page.getByRole('heading', { level: 2, name: 'Connect it' }).waitFor();
    await hand.stop('the end of an application');
    const signIn = page.getByRole('link', { name: /Open the sign-in page/ });
    const [tried] = await Promise.all([page.context().waitForEvent('page'), hand.press(signIn)]);
    await tried.getByLabel('Username').waitFor();
    await tried.close();
    const { body } = await server.admin.call(listClients, { params: { realm }, query: { q: 'shop' } });
    expect(body).toMatchObject([{ clientId: 'shop', redirectUris: [redirect] }]);
  },
});

const journeys: Journey[] = [
  application('a web application is added', /Web application/, 'https://shop.example.com/callback'),
  application('a single page is added', /Single page/, 'https://shop.example.com/'),
  application('a native app is added', /Native app/, 'com.example.shop:/callback'),
  application('an MCP client is added', /MCP client/, 'http://127.0.0.1/callback'),
  {
    name: 'a service is added, and gets a token with its secret',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await begin(hand, realm, /Add an application/, /Service or job/);
      await hand.fill(page.getByLabel('Client ID', { exact: true }), 'nightly');
      await save(hand);
      const secret = await page.getByRole('region', { name: 'Secret to copy' }).locator('pre').innerText();
      await hand.stop('the end of a service');
      const answer = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa(`nightly:${secret.trim()}`)}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'grant_type=client_credentials',
      });
      expect(answer.status).toBe(200);
    },
  },
  {
    name: 'a SAML application is added by hand',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await begin(hand, realm, /Add an application/, /SAML application, by hand/);
      await hand.fill(page.getByLabel('Entity ID', { exact: true }), 'https://crm.example.com/saml');
      await hand.fill(page.getByLabel(/^Assertion consumer service/), 'https://crm.example.com/acs');
      await save(hand);
      await page.getByText(`${server.baseUrl}/realms/${realm}/saml/idp/metadata`).waitFor();
      await hand.stop('the end of a SAML application');
      const { body } = await server.admin.call(listSamlClients, { params: { realm } });
      expect(body).toMatchObject([{ entityId: 'https://crm.example.com/saml' }]);
    },
  },
  {
    name: 'an identity provider is connected, and its first sign-in seen',
    prepare: shop,
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await begin(hand, realm, /Connect an identity provider/, /Another OpenID provider/);
      await hand.press(page.getByRole('button', { name: 'Continue' }));
      await hand.fill(page.getByLabel('Issuer', { exact: true }), upstream.url);
      await hand.fill(page.getByLabel('Client ID', { exact: true }), 'realm');
      await hand.fill(page.getByLabel('Client secret'), 'the secret of the provider');
      await hand.stop('the settings of a provider');
      await save(hand);
      await page.getByText('Waiting for a sign-in…').waitFor();
      await hand.choose(page.getByRole('button', { name: /Sign in to/ }), /shop/);
      const to = (await page.getByRole('link', { name: /Try the sign-in/ }).getAttribute('href')) ?? '';
      upstream.userinfo = { email: `${realm}@example.com`, email_verified: true, preferred_username: realm };
      const person = createPerson(server.baseUrl);
      const { pathname, search } = new URL(to);
      const sent = await person.open(pathname + search);
      await person.open(upstream.answer(sent.url));
      await page.getByText('Waiting for a sign-in…').waitFor({ state: 'detached' });
      await hand.stop('the first sign-in by a provider');
    },
  },
  {
    name: 'mail is set up, and a test message arrives',
    async walk(hand, { realm }) {
      const { page } = hand;
      await begin(hand, realm, /Set up messages/, /SMTP/);
      await hand.fill(page.getByLabel('Mail server'), '127.0.0.1');
      await hand.choose(page.getByRole('button', { name: /Encryption/ }), /None/);
      await hand.fill(page.getByLabel('Port'), String(mail.port));
      await hand.fill(page.getByLabel('Sender', { exact: true }), 'no-reply@acme.example');
      await save(hand);
      await hand.fill(page.getByLabel('E-mail address'), `${realm}@example.com`);
      await hand.press(page.getByRole('button', { name: 'Send the test' }));
      await page.getByText('The gateway took the message.').waitFor();
      await hand.stop('a test message');
      expect(mail.mails.some(({ to }) => to.includes(`${realm}@example.com`))).toBe(true);
    },
  },
  {
    name: 'a directory is connected, tested, and its people taken over',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await begin(hand, realm, /Connect a directory/, /OpenLDAP/);
      await hand.fill(page.getByLabel('Servers, 1'), slapd.ldap);
      await hand.fill(page.getByLabel('Bind DN', { exact: true }), READER);
      await hand.fill(page.getByLabel('Password of the bind DN'), READER_PASSWORD);
      await hand.press(page.getByRole('button', { name: 'Continue' }));
      await hand.fill(page.getByLabel('Base of people'), `ou=people,${BASE}`);
      await hand.stop('the people of a directory');
      await hand.press(page.getByRole('button', { name: 'Continue' }));
      await save(hand);
      await hand.press(page.getByRole('button', { name: 'Test the connection' }));
      await page.getByText('bob', { exact: true }).waitFor();
      await hand.stop('the test of a directory');
      await hand.press(page.getByRole('button', { name: 'Start the sync' }));
      await page.getByText('done', { exact: true }).waitFor();
      await hand.stop('the first sync');
      expect((await server.admin.call(listUsers, { params: { realm }, query: { q: 'bob' } })).body).toHaveLength(1);
    },
  },
  {
    name: 'SCIM: a token for Okta, which works',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await begin(hand, realm, /Provision by SCIM/, /Okta/);
      await hand.press(page.getByRole('button', { name: 'Make the token' }));
      const token = (await page.getByText(/^svc_scim_/).innerText()).trim();
      await hand.stop('a SCIM token');
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${server.baseUrl}/realms/${realm}/scim/v2/Users`, { headers })).status).toBe(200);
    },
  },
  {
    name: 'a webhook is added, and its test delivery received',
    async walk(hand, { realm }) {
      const { page } = hand;
      await begin(hand, realm, /Add a webhook/);
      await hand.fill(page.getByLabel('Name', { exact: true }), 'crm');
      await hand.fill(page.getByLabel('Address', { exact: true }), `${receiver.url}/${realm}`);
      await save(hand);
      await hand.press(page.getByRole('button', { name: 'Send a test' }));
      await page.getByText('received', { exact: true }).waitFor();
      await hand.stop('a test delivery');
      expect(receiver.received.some(({ url }) => url === `/${realm}`)).toBe(true);
    },
  },
  {
    name: 'a workload of GitHub Actions is trusted',
    prepare: shop,
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await begin(hand, realm, /Trust a workload/, /GitHub Actions/);
      const subject = page.getByLabel('Repository');
      // the issuer comes before the workload
      await subject
        .or(page.getByRole('button', { name: 'Continue' }))
        .first()
        .waitFor();
      if (!(await subject.isVisible())) await hand.press(page.getByRole('button', { name: 'Continue' }));
      await hand.fill(subject, 'acme/shop');
      await hand.choose(page.getByRole('button', { name: /Which jobs/ }), /In an environment/);
      await hand.press(page.getByRole('button', { name: 'Continue' }));
      await hand.find(page.getByRole('combobox', { name: 'Acts as the client' }), 'shop', /shop/);
      await save(hand);
      await page.getByText('ACTIONS_ID_TOKEN_REQUEST_URL').waitFor();
      await hand.stop('the end of a workload');
      expect((await server.admin.call(listWorkloadIdentities, { params: { realm } })).body).toHaveLength(1);
    },
  },
  {
    name: 'the first steps lead to a realm of one’s own',
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open('/first-steps');
      await hand.heading('First steps');
      const step = page.getByRole('listitem').filter({ hasText: 'Keep the master key elsewhere too' });
      await hand.press(step.getByRole('button'));
      await step.getByText('(ready)').waitFor({ state: 'attached' });
      await hand.stop('the first steps');
      await hand.press(page.getByRole('link', { name: 'Set up', exact: true }));
      await hand.heading('Set up messages');
      await page.goBack();
      await hand.heading('First steps');
      await hand.open('/realms/new');
      await hand.heading('Create a realm');
      await hand.fill(page.getByLabel('Name', { exact: true }), `${realm}-own`);
      await hand.press(page.getByRole('button', { name: 'Create the realm' }));
      await hand.heading(`${realm}-own`);
      await hand.stop('a new realm');
    },
  },
  {
    name: 'a flow loses a step, and the realm signs in with it',
    prepare: async ({ server, realm }) => {
      await server.admin.call(createFlow, { params: { realm }, body: { alias: 'kiosk', copyFromAlias: 'browser' } });
      return {};
    },
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/flows`);
      await hand.press(page.getByRole('row', { name: /kiosk/ }));
      await hand.heading('kiosk');
      await page.getByRole('row', { name: /^2 Second factor/ }).waitFor();
      await hand.press(page.getByRole('row', { name: /^3 Step-up at risk/ }));
      await page.keyboard.press('Delete');
      await page.getByText('The server accepts this tree').waitFor();
      await hand.stop('a flow with a step less');
      await hand.press(page.getByRole('button', { name: 'Review and save' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true, disabled: false }));
      await page.getByText('Saved the flow.').waitFor();
      await hand.press(page.getByRole('link', { name: 'In use', exact: true }));
      await hand.press(page.getByRole('button', { name: 'Sign the realm in with this flow' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Bind the flow', disabled: false }));
      await page.getByText('signs the realm in', { exact: true }).waitFor();
      await hand.stop('where a flow is in use');
      expect((await server.admin.call(getSettings, { params: { realm } })).body?.browserFlow).toBe('kiosk');
      expect((await server.admin.call(getFlow, { params: { realm, alias: 'kiosk' } })).body?.executions).toBeDefined();
    },
  },
  {
    name: 'the realm gets its colour',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Look and texts');
      await hand.heading('Look and texts');
      await hand.fill(page.getByLabel('Primary colour: as hex'), '#0a7c66');
      await hand.press(page.getByRole('button', { name: 'Phone', exact: true }));
      await hand.stop('a sketch');
      await hand.press(page.getByRole('button', { name: 'Review and save' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true, disabled: false }));
      await page.getByText('Nothing is changed yet.').waitFor();
      await hand.stop('a saved look');
      expect((await server.admin.call(getSettings, { params: { realm } })).body?.primaryColor).toBe('#0a7c66');
    },
  },
  {
    name: 'a text of the pages is written anew, and a user reads it',
    prepare: async ({ server, realm }) => {
      await server.admin.call(putSettings, { params: { realm }, body: { supportedLocales: ['en', 'de'] } });
      await server.admin.call(createUser, { params: { realm }, body: { username: 'ana' } });
      return {};
    },
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/look`);
      await hand.press(page.getByRole('link', { name: 'Texts of the pages' }));
      await hand.press(page.getByRole('link', { name: 'German' }));
      await hand.press(page.getByRole('button', { name: 'Add a text' }));
      await hand.fill(page.getByLabel('Key', { exact: true }), 'login.title');
      await hand.stop('a text without words');
      await hand.fill(page.getByLabel('Key', { exact: true }), 'password.title');
      await hand.fill(page.getByLabel('Text of password.title', { exact: true }), 'Schön, dass Sie da sind');
      await hand.press(page.getByRole('button', { name: 'Review and save' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true, disabled: false }));
      await page.getByText('Saved the texts.').waitFor();
      await hand.stop('the texts');
      const reader = await page.context().browser()?.newPage({ locale: 'de' });
      await reader?.goto(`${server.baseUrl}/realms/${realm}/account`);
      await reader?.getByRole('heading', { name: 'Schön, dass Sie da sind' }).waitFor();
      await reader?.close();
    },
  },
];

testJourneys(journeys, {
  first: 1,
  async options() {
    [mail, receiver, upstream] = await Promise.all([
      startMailServer({ plain: true }),
      startReceiver(),
      startUpstream(),
    ]);
    slapd = await startSlapd(['ada', 'bob'].map((uid) => personLdif(uid)).join(''));
    receiver.answer = () => ({ status: 204 });
    folder = await mkdtemp(path.join(os.tmpdir(), 'journeys-'));
    const file = path.join(folder, 'ca.crt');
    const authorities = await Promise.all([receiver, upstream].map(({ caFile }) => readFile(caFile, 'utf8')));
    await writeFile(file, authorities.join('\n'));
    return { env: { SVC_OUTBOUND_CA_FILE: file } };
  },
  async stop() {
    await Promise.all([mail, receiver, upstream, slapd].map((one) => one?.stop()));
    await rm(folder, { recursive: true, force: true });
  },
});
