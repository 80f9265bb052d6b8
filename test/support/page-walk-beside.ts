// Owns: the way of a person in a browser to pages of realms that differ from the one of page-walk.ts: each stop makes its own.
// Does not own: what must hold of a page (page-checks.ts).
import type { z } from 'zod';
import { putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { activateAgent, createAgent } from '../../server/contract/agents.ts';
import { createEnrolmentLink } from '../../server/contract/enrolment-links.ts';
import { putMessagingProvider } from '../../server/contract/messaging.ts';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { UMA_TICKET } from '../../server/contract/uma-grant.ts';
import { impersonateUser } from '../../server/contract/user-access.ts';
import { createUser, type UserInput } from '../../server/contract/users.ts';
import { TRANSLATED_LANGUAGES } from '../../server/http/languages.ts';
import { authorizePath, newVerifier } from './applications.ts';
import { codeAt } from './authenticator-app.ts';
import { makeProvider } from './brokering.ts';
import { basic, makeRealm, post, SECRET } from './clients.ts';
import { deviceFor } from './devices.ts';
import { linkIn, type MailingServer } from './mail.ts';
import type { Visit } from './page-walk.ts';

export const besideNames = [
  'not-me',
  'enrolment',
  'refused',
  'administrator',
  'work',
  'own-device',
  'phone',
  'provider',
  'sharing',
  'changes',
  'impersonation',
] as const;
type Stop = (typeof besideNames)[number];
type Document = z.input<typeof RealmDocument>;

export interface Beside {
  site: MailingServer;
  realm: string;
  locale: string;
  callback: string;
  password: string;
  fresh(go: (visit: Visit) => Promise<void>): Promise<void>;
}

export function createBeside({ site, realm, locale, callback, password, fresh }: Beside) {
  const { server } = site;

  /** Another realm, in the same languages. @returns its name */
  async function beside(name: string, { realm: settings = {}, ...document }: Document = {}): Promise<string> {
    const made = `${realm}-${name}`;
    await makeRealm(server, made);
    const languages = { defaultLocale: locale, supportedLocales: [...TRANSLATED_LANGUAGES] };
    const body = { realm: { displayName: 'Northwind Library', ...languages, ...settings }, ...document };
    await server.admin.call(importRealm, { params: { realm: made }, body });
    return made;
  }
  async function person(at: string, username: string, more: Partial<UserInput> = {}): Promise<string> {
    const name = { firstName: 'Maximiliane', lastName: 'von Hohenstein' };
    const email = `${username}@${realm}.example`;
    const body = { username, password, email, emailVerified: true, ...name, ...more };
    return (await server.admin.call(createUser, { params: { realm: at }, body })).body?.id ?? '';
  }
  const account = (at: string) => `/realms/${at}/login?for=account`;
  const setUp = { requiredActions: ['CONFIGURE_OTP' as const] };

  const stops: Record<Stop, () => Promise<void>> = {
    'not-me': async () => {
      const at = await beside('devices');
      await site.sendsMail(at);
      await person(at, 'nora');
      for (const _ of ['at home', 'elsewhere'])
        await fresh(async ({ open, signIn }) => {
          await open(account(at));
          await signIn('nora');
        });
      const link = linkIn(await site.mailTo(`nora@${realm}.example`, '/login/not-me'));
      await fresh(async ({ open, see, submit }) => {
        await open(link);
        await see('not-me');
        await submit();
        await see('not-me-done');
      });
    },
    enrolment: async () => {
      const at = await beside('links');
      const userId = await person(at, 'emil');
      await fresh(async ({ open, see }) => {
        for (const action of ['CONFIGURE_OTP', 'CONFIGURE_PASSKEY'] as const) {
          const { body } = await server.admin.call(createEnrolmentLink, {
            params: { realm: at, userId },
            body: { action },
          });
          const { pathname, search } = new URL(body?.link ?? '');
          await open(`${pathname}${search}`);
          await see(`enrolment-${action}`);
        }
      });
    },
    refused: async () => {
      const at = await beside('refusing');
      await person(at, 'dirk', { enabled: false });
      await fresh(async ({ open, signIn, see }) => {
        await open(account(at));
        await signIn('dirk');
        await see('disabled');
      });
      const device = await deviceFor(server, realm, await person(realm, 'petr'));
      await fresh(async ({ open, signIn, see }) => {
        await open(authorizePath(realm, 'push', newVerifier(), { redirect_uri: callback }));
        await signIn('petr');
        const { body } = await device.waiting();
        await device.deny(body[0].id);
        await open(`/realms/${realm}/login`);
        await see('push-denied');
      });
    },
    administrator: async () => {
      const at = await beside('administrators');
      const userId = await person(at, 'alma', setUp);
      const grants = [{ role: 'realm-admin', realm: at }];
      await server.admin.call(putUserAdminRoles, { params: { realm: at, userId }, body: { grants } });
      await fresh(async ({ page, open, fill, submit, signIn, see }) => {
        await open('/admin/login');
        await fill({ realm: at });
        await submit();
        await see('admin-sign-in');
        await signIn('alma');
        await see('admin-set-up');
        const secret = (await page.locator('code.secret').innerText()).replace(/\s/g, '');
        await fill({ code: codeAt(secret) });
        await submit();
      });
      await fresh(async ({ open, fill, submit, signIn, see }) => {
        await open('/admin/login');
        await fill({ realm: at });
        await submit();
        await signIn('alma');
        await see('admin-code');
      });
    },
    work: async () => {
      const at = await beside('work', { realm: { registrationEnabled: true, captchaProvider: 'pow' } });
      await fresh(async ({ open, see }) => {
        await open(`/realms/${at}/register`);
        await see('register-work');
      });
    },
    'own-device': async () => {
      const at = await beside('own', {
        realm: {
          rememberMe: true,
          riskPolicyEnabled: true,
          riskMediumThreshold: 30,
          riskHighThreshold: 100,
          riskMediumAction: 'deny',
          deviceRemembering: 'ask',
        },
      });
      await person(at, 'olga');
      await fresh(async ({ page, open, signIn, see }) => {
        await open(account(at));
        await see('own-device');
        await page.locator('[name=device]').check();
        await signIn('olga');
        await page.waitForURL(/\/account$/);
        await open(`/realms/${at}/account?view=devices`);
        await see('known-browsers');
      });
      await fresh(async ({ open, signIn, see }) => {
        await open(account(at));
        await signIn('olga');
        await see('risk-refused');
      });
    },
    phone: async () => {
      const at = await beside('phones');
      // no server answers at this address: the page asks for the code before it has come
      const config = { url: 'https://127.0.0.1:9/' };
      await server.admin.call(putMessagingProvider, {
        params: { realm: at },
        body: { channel: 'SMS', driver: 'http', config },
      });
      await person(at, 'phil', { attributes: { phone_number: ['+491701234567'] } });
      await fresh(async ({ page, open, signIn, see, submit }) => {
        await open(account(at));
        await signIn('phil');
        await page.waitForURL(/\/account$/);
        await open(`/realms/${at}/account?view=security`);
        await see('phone-account');
        await submit('form:has([value=VERIFY_PHONE]) button');
        await see('phone');
        await submit();
        await page.locator('[name=code]').waitFor();
        await see('phone-code');
      });
    },
    provider: async () => {
      const at = await beside('shop');
      const corp = await beside('corp', {
        clients: [
          { clientId: 'shop', secret: SECRET, redirectUris: [`${server.baseUrl}/realms/${at}/broker/corp/endpoint`] },
        ],
      });
      await makeProvider(server, at, {
        ...{ alias: 'corp', type: 'oidc', displayName: 'Corp', clientId: 'shop', secret: SECRET },
        scopes: ['openid', 'email', 'profile'],
        config: { issuer: `${server.baseUrl}/realms/${corp}` },
      });
      await site.sendsMail(at);
      await server.admin.call(createUser, { params: { realm: corp }, body: { username: 'nina', password } });
      await person(corp, 'carl');
      const issuer = `${server.baseUrl}/realms/${corp}`;
      const identity = { identityProvider: 'corp', issuer, subject: await person(corp, 'dino') };
      const users = [{ username: 'dino', enabled: false, identities: [identity] }];
      await server.admin.call(importRealm, { params: { realm: at }, body: { users } });
      await person(at, 'karl', { email: `carl@${realm}.example` });
      for (const [username, name] of [
        ['nina', 'provider-review'],
        ['carl', 'provider-connect'],
        ['dino', 'provider-disabled'],
      ] as const)
        await fresh(async ({ page, open, signIn, see, submit }) => {
          await open(account(at));
          if (username === 'nina') await see('provider-ways');
          await submit('a[href*="/login/provider/corp"]');
          await page.waitForURL(new RegExp(`/realms/${corp}/login`));
          await signIn(username);
          await page.waitForURL(new RegExp(`/realms/${at}/login`));
          await see(name);
          if (username !== 'carl') return;
          await submit('button[name=mail]');
          await see('provider-code');
        });
    },
    sharing: async () => {
      const application = { secret: SECRET, redirectUris: [callback] };
      const at = await beside('sharing', {
        users: [{ username: 'owner' }],
        clients: [
          { ...application, clientId: 'reader', name: 'Reading Room', grantTypes: ['authorization_code', UMA_TICKET] },
          {
            ...application,
            clientId: 'albums',
            name: 'Albums',
            grantTypes: [UMA_TICKET, 'client_credentials'],
            optionalClientScopes: ['uma_protection'],
          },
        ],
        applications: [
          {
            name: 'catalogue',
            displayName: 'The catalogue',
            description: 'Every book that there is',
            url: 'https://example.com/catalogue',
          },
        ],
      });
      await person(at, 'zoe');
      await person(at, 'bob');
      await server.admin.call(importRealm, {
        params: { realm: at },
        body: {
          authorizationServices: [
            {
              clientId: 'albums',
              settings: { remoteResources: true },
              scopes: [{ name: 'view' }, { name: 'edit' }],
              resources: [{ name: 'Holiday', scopes: ['view', 'edit'], owner: 'zoe', ownerManaged: true }],
            },
          ],
        },
      });
      const agent = { name: 'Shelf helper', description: 'Renews what is due', owner: 'zoe', reviewIntervalDays: 1 };
      const { body } = await server.admin.call(createAgent, { params: { realm: at }, body: agent });
      await server.admin.call(activateAgent, { params: { realm: at, id: body?.id ?? '' } });
      const authorization = basic('albums');
      const form = { grant_type: 'client_credentials', scope: 'uma_protection' };
      const { body: protection } = await post(server, at, 'token', form, { authorization });
      const answer = await fetch(`${server.baseUrl}/realms/${at}/authz/protection/permission`, {
        method: 'POST',
        headers: { authorization: `Bearer ${protection.access_token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ resource_id: 'Holiday', resource_scopes: ['view', 'edit'] }),
      });
      const { ticket } = Object(await answer.json());
      await fresh(async ({ page, open, signIn, see }) => {
        const verifier = newVerifier();
        await open(authorizePath(at, 'reader', verifier, { redirect_uri: callback }));
        await signIn('bob');
        await page.waitForURL(`${callback}*`);
        const code = new URL(page.url()).searchParams.get('code') ?? '';
        const grant = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier };
        const { body: tokens } = await post(server, at, 'token', grant, { authorization: basic('reader') });
        const asked = {
          grant_type: UMA_TICKET,
          ticket,
          claim_token: String(tokens.access_token),
          submit_request: 'true',
        };
        const { body: refusal } = await post(server, at, 'token', asked, { authorization: basic('reader') });
        if (refusal.error !== 'request_submitted') throw new Error(`not asked: ${JSON.stringify(refusal)}`);
        await open(`/realms/${at}/account?view=applications`);
        await see('sharing-asked');
      });
      await fresh(async ({ page, open, signIn, see }) => {
        await open(account(at));
        await signIn('zoe');
        await page.waitForURL(/\/account$/);
        await open(`/realms/${at}/account?view=applications`);
        await page.locator('li summary').click();
        await see('sharing');
      });
    },
    changes: async () => {
      const at = await beside('changes', {
        realm: { passwordRecoveryEnabled: true },
        userProfile: {
          attributes: [
            { name: 'department', displayName: 'Department', validation: { options: ['Lending', 'Restoration'] } },
            { name: 'phone_number', displayName: 'Phone number' },
            { name: 'interests', displayName: 'Interests', multivalued: true },
          ],
        },
      });
      await site.sendsMail(at);
      await person(at, 'cora', { attributes: { phone_number: ['+49 170 1234567'], department: ['Restoration'] } });
      await fresh(async ({ page, open, signIn, see, fill, submit }) => {
        await open(account(at));
        await signIn('cora');
        await page.waitForURL(/\/account$/);
        await see('changes');
        for (const action of ['UPDATE_PROFILE', 'UPDATE_PASSWORD', 'VERIFY_EMAIL']) {
          await open(`/realms/${at}/account${action === 'UPDATE_PASSWORD' ? '?view=security' : ''}`);
          await submit(`form:has([value=${action}]) button`);
          await see(`change-${action}`);
        }
        await fill({ email: `cora@${at}.example` });
        await submit();
        await see('change-code');
        await open(`/realms/${at}/account?view=data`);
        await submit('form[action$="/account/erase"] button');
        await see('erase');
        await fill({ username: 'somebody' });
        await submit();
        await see('erase-wrong');
        await fill({ username: 'cora' });
        await submit();
        await see('erased');
      });
    },
    impersonation: async () => {
      const at = await beside('acting');
      const userId = await person(at, 'iris');
      const { body } = await server.admin.call(impersonateUser, { params: { realm: at, userId } });
      await fresh(async ({ page, open, see, submit }) => {
        await open(body?.url ?? '');
        await see('impersonation');
        await submit();
        await page.waitForURL(/\/account$/);
        await see('acting');
        await open(body?.url ?? '');
        await submit();
        await see('impersonation-late');
      });
    },
  };
  return stops;
}
