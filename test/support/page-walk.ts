// Owns: the way of a person in a browser to each page that a realm with every way to sign in has.
// Does not own: the realm (page-walk-realm.ts), what must hold of a page (page-checks.ts).
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { createInvitation } from '../../server/contract/invitations.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser, type UserInput } from '../../server/contract/users.ts';
import { TRANSLATED_LANGUAGES } from '../../server/http/languages.ts';
import { authorizePath, newVerifier } from './applications.ts';
import { codeAt } from './authenticator-app.ts';
import { makeRealm, post } from './clients.ts';
import { createDevice } from './device.ts';
import { deviceFor } from './devices.ts';
import { codeIn, linkIn, type MailingServer } from './mail.ts';
import { besideNames, createBeside } from './page-walk-beside.ts';
import { createLate, lateNames } from './page-walk-late.ts';
import { addAuthenticator } from './passkeys.ts';
import { ADMIN_PASSWORD } from './server.ts';

const PASSWORD = 'three wet umbrellas 3';
/** A check of each page, by its name. */
export type Look = (page: Page, name: string) => Promise<void>;
const ownNames = [
  'sign-in',
  'otp',
  'passkey',
  'push',
  'qr',
  'link',
  'message-code',
  'recovery-codes',
  'required-actions',
  'recovery',
  'register',
  'register-passkey',
  'closed',
  'device',
  'consent',
  'account',
  'invitation',
  'errors',
  'administration',
] as const;
type Stop = (typeof ownNames)[number];
export const stopNames = [...ownNames, ...besideNames, ...lateNames] as const;
export interface WalkOptions {
  browser: Browser;
  site: MailingServer;
  realm: string;
  locale: string;
  callback: string;
  look: Look;
  /** With each answer that a page's address gave. */
  answered?(response: Response): void;
  javaScript?: boolean;
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  open(path: string): Promise<unknown>;
  fill(fields: Record<string, string>): Promise<void>;
  /** Presses the form's button. */
  submit(selector?: string): Promise<void>;
  signIn(username: string): Promise<void>;
  see(name: string): Promise<void>;
}

export function createWalk({ browser, site, realm, locale, callback, look, answered, javaScript = true }: WalkOptions) {
  const { server } = site;
  const asking = (clientId: string, more: Record<string, string> = {}) =>
    authorizePath(realm, clientId, newVerifier(), { redirect_uri: callback, ...more });

  async function person(username: string, more: Partial<UserInput> = {}): Promise<string> {
    const body = { username, password: PASSWORD, firstName: 'Maximiliane', lastName: 'von Hohenstein', ...more };
    const email = `${username}@${realm}.example`;
    const made = await server.admin.call(createUser, {
      params: { realm },
      body: { email, emailVerified: true, ...body },
    });
    return made.body?.id ?? '';
  }
  /** A browser of its own, without a session. */
  async function fresh(go: (visit: Visit) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ locale, javaScriptEnabled: javaScript });
    const page = await context.newPage();
    if (answered) page.on('response', answered);
    try {
      await go(createVisit(context, page));
    } finally {
      await context.close();
    }
  }
  function createVisit(context: BrowserContext, page: Page): Visit {
    const visit: Visit = {
      context,
      page,
      open: (path) => page.goto(new URL(path, server.baseUrl).href),
      async fill(fields) {
        for (const [name, value] of Object.entries(fields)) await page.locator(`[name="${name}"]`).first().fill(value);
      },
      async submit(selector = 'main form button:not(.link):not(.quiet):not([type=button])') {
        const before = page.waitForEvent('framenavigated');
        await page.locator(selector).first().click();
        await before;
        await page.waitForLoadState();
      },
      async signIn(username) {
        await visit.fill({ username, password: PASSWORD });
        await visit.submit();
      },
      see: (name) => look(page, name),
    };
    return visit;
  }
  const secretOn = async (page: Page) => (await page.locator('code.secret').innerText()).replace(/\s/g, '');

  const stops: Record<Stop, () => Promise<void>> = {
    'sign-in': () =>
      fresh(async ({ open, see, fill, submit }) => {
        await open(asking('reader'));
        await see('sign-in');
        await fill({ username: 'nobody', password: 'wrong' });
        await submit();
        await see('sign-in-wrong');
      }),
    otp: async () => {
      await person('otto');
      let secret = '';
      await fresh(async ({ page, open, signIn, see, fill, submit }) => {
        await open(asking('otp'));
        await signIn('otto');
        await see('otp-set-up');
        secret = await secretOn(page);
        await fill({ code: codeAt(secret) });
        await submit();
        await open(`/realms/${realm}/account`);
      });
      await fresh(async ({ open, signIn, see }) => {
        await open(asking('otp'));
        await signIn('otto');
        await see('otp');
      });
    },
    passkey: async () => {
      await person('paula');
      await fresh(async ({ context, page, open, signIn, see, submit }) => {
        if (javaScript) await addAuthenticator(context, page);
        await open(asking('webauthn'));
        await signIn('paula');
        await see('passkey-set-up');
        if (!javaScript) return;
        await submit();
        await page.waitForURL(`${callback}*`);
        await context.clearCookies();
        await open(asking('webauthn'));
        await signIn('paula');
        await see('passkey');
      });
    },
    push: async () => {
      await person('pia');
      const userId = await person('petra');
      await deviceFor(server, realm, userId);
      await fresh(async ({ open, signIn, see }) => {
        await open(asking('push'));
        await signIn('petra');
        await see('push');
      });
      await fresh(async ({ page, open, signIn, see }) => {
        await open(asking('push'));
        await signIn('pia');
        await see('device-set-up');
        const address = await page.locator('main a[href*="/device/enroll#"]').getAttribute('href');
        await (await createDevice(address ?? '', { name: 'Maximilianes Telefon' })).enrol();
        await page.reload();
        await see('device-yours');
      });
    },
    qr: () =>
      fresh(async ({ open, see }) => {
        await open(asking('qr'));
        await see('qr');
      }),
    link: () =>
      fresh(async ({ open, see, fill, submit }) => {
        await open(asking('magic-link'));
        await see('link');
        await fill({ username: 'nobody' });
        await submit();
        await see('link-waiting');
        await open(`/realms/${realm}/login/link?token=nothing`);
        await see('link-useless');
        await person('lina');
        await open(asking('magic-link'));
        await fill({ username: 'lina' });
        await submit();
        const mail = await site.mailTo(`lina@${realm}.example`, linkPath(realm));
        await open(linkIn(mail));
        await see('link-button');
      }),
    'message-code': async () => {
      await person('emma');
      await fresh(async ({ open, signIn, see }) => {
        await open(asking('email-otp'));
        await signIn('emma');
        await see('message-code');
      });
    },
    'recovery-codes': async () => {
      await person('rosa', { requiredActions: ['CONFIGURE_RECOVERY_CODES'] });
      await fresh(async ({ page, open, signIn, see, submit }) => {
        await open(asking('reader'));
        await signIn('rosa');
        await see('recovery-codes');
        await page.locator('main form input[type=checkbox]').first().check();
        await submit();
      });
      await fresh(async ({ open, signIn, see }) => {
        await open(asking('recovery-codes'));
        await signIn('rosa');
        await see('recovery-code');
      });
    },
    'required-actions': async () => {
      const requiredActions = ['VERIFY_EMAIL', 'UPDATE_PROFILE', 'TERMS'] as const;
      await person('rita', { requiredActions: [...requiredActions], passwordTemporary: true });
      await fresh(async ({ page, open, signIn, see, fill, submit }) => {
        await open(asking('reader'));
        await signIn('rita');
        await see('new-password');
        await fill({ password: 'short', repeated: 'short' });
        await submit();
        await see('new-password-wrong');
        const password = 'four dry umbrellas 4';
        await fill({ password, repeated: password });
        await submit();
        await see('verify-email');
        const mail = await site.mailTo(`rita@${realm}.example`, linkPath(realm));
        await page.goto(new URL(linkIn(mail), server.baseUrl).href);
        await see('verify-email-link');
        await submit();
        await see('profile');
        await submit();
        await see('terms');
      });
    },
    recovery: async () => {
      await person('flora');
      await fresh(async ({ page, open, see, fill, submit }) => {
        await open(`/realms/${realm}/login/forgot`);
        await see('forgot');
        await fill({ username: 'flora' });
        await submit();
        await see('forgot-sent');
        const mail = await site.mailTo(`flora@${realm}.example`, '/login/reset');
        await page.goto(new URL(linkIn(mail), server.baseUrl).href);
        await see('reset');
        const password = 'four dry umbrellas 4';
        await fill({ password, repeated: password });
        await submit();
        await see('reset-done');
        await open(`/realms/${realm}/login/reset?token=nothing`);
        await see('reset-over');
      });
    },
    register: () =>
      fresh(async ({ page, open, see, fill, submit }) => {
        await open(`/realms/${realm}/register`);
        await see('register');
        await submit();
        await see('register-wrong');
        const password = 'four dry umbrellas 4';
        const email = `rasmus@${realm}.example`;
        await fill({ email, firstName: 'Rasmus', lastName: 'Ek', password, repeated: password });
        for (const box of await page.locator('main form input[type=checkbox]').all()) await box.check();
        await submit();
        await page.locator('[name=code]').waitFor();
        await see('register-code');
      }),
    'register-passkey': () =>
      fresh(async ({ context, page, open, see, fill, submit }) => {
        if (!javaScript) return;
        await addAuthenticator(context, page);
        await open(asking('keys'));
        await open(`/realms/${realm}/register`);
        await page.locator('#how-passkey:checked').waitFor();
        await see('register-choice');
        const email = `kim@${realm}.example`;
        await fill({ email, firstName: 'Kim', lastName: 'Ek' });
        await page.locator('#terms').check();
        await submit();
        await fill({ code: codeIn(await site.mailTo(email, linkPath(realm))) });
        await submit();
        await see('register-passkey');
        await submit('[data-instead]');
        await see('register-password');
      }),
    closed: async () => {
      const closed = `${realm}-closed`;
      await makeRealm(server, closed);
      await server.admin.call(importRealm, {
        params: { realm: closed },
        body: {
          realm: { defaultLocale: locale, supportedLocales: [...TRANSLATED_LANGUAGES], registrationEnabled: false },
        },
      });
      await fresh(async ({ open, see }) => {
        await open(`/realms/${closed}/register`);
        await see('register-closed');
        await open(`/realms/${closed}/login/forgot`);
        await see('forgot-closed');
      });
    },
    device: async () => {
      await person('dora');
      const { body } = await post(server, realm, 'device_authorization', { client_id: 'tv', scope: 'openid email' });
      await fresh(async ({ open, signIn, see, fill, submit }) => {
        await open(`/realms/${realm}/device`);
        await signIn('dora');
        await see('device-code');
        await fill({ user_code: 'WRNG-CODE' });
        await submit();
        await see('device-code-wrong');
        await fill({ user_code: String(body.user_code) });
        await submit();
        await see('device-confirm');
        await submit('main button[value=allow]');
        await see('device-allowed');
      });
    },
    consent: async () => {
      await person('carla');
      await fresh(async ({ open, signIn, see }) => {
        await open(asking('partner', { scope: 'openid email profile loans fines' }));
        await signIn('carla');
        await open(asking('partner', { scope: 'openid email profile loans fines' }));
        await see('consent');
      });
    },
    account: async () => {
      const userId = await person('anna');
      await server.admin.call(importRealm, {
        params: { realm },
        body: {
          authorizationServices: [
            {
              clientId: 'albums',
              resources: [{ name: 'Garden', scopes: ['view', 'edit'], owner: 'anna', ownerManaged: true }],
            },
          ],
        },
      });
      await fresh(async ({ open, signIn, submit }) => {
        await open(asking('partner', { scope: 'openid email loans' }));
        await signIn('anna');
        await submit('main button[value=allow]');
      });
      await fresh(async ({ page, open, signIn, see, submit }) => {
        await open(`/realms/${realm}/account`);
        await signIn('anna');
        await page.waitForURL(/\/account$/);
        // after signing in: a user with a device is asked for a second factor
        await deviceFor(server, realm, userId);
        await page.reload();
        await see('account');
        for (const view of ['security', 'devices', 'applications', 'data', 'activity']) {
          await open(`/realms/${realm}/account?view=${view}`);
          if (view === 'security') await page.locator('.menu > summary').click();
          await see(`account-${view}`);
        }
        await open(`/realms/${realm}/oauth2/logout`);
        await see('logout');
        await submit();
        await see('logout-done');
      });
    },
    invitation: async () => {
      const { body } = await server.admin.call(createInvitation, {
        params: { realm },
        body: { email: `ida@${realm}.example`, mail: false },
      });
      const link = new URL(body?.link ?? '');
      await fresh(async ({ open, see }) => {
        await open(`${link.pathname}${link.search}`);
        await see('invitation');
        await open(`/realms/${realm}/login/invitation?token=nothing`);
        await see('invitation-over');
        await open(`/realms/${realm}/login/enrol?token=nothing`);
        await see('enrolment-over');
        await open(`/realms/${realm}/login/enrol?done=1`);
        await see('enrolment-done');
        await open(`/realms/${realm}/login/not-me?token=nothing`);
        await see('not-me-over');
      });
    },
    errors: () =>
      fresh(async ({ open, see }) => {
        await open(asking('nobody'));
        await see('bad-request');
        await open(`/realms/${realm}/nothing/here`);
        await see('not-found');
        await open(`/realms/${realm}/device/enroll`);
        await see('app-address');
      }),
    administration: () =>
      fresh(async ({ open, see, fill, submit }) => {
        await open('/admin/login');
        await see('admin-realm');
        await submit();
        await fill({ username: 'admin', password: ADMIN_PASSWORD });
        await submit();
        await open('/admin/login?page=plain');
        await see('admin-signed-in');
      }),
  };
  const there = { site, realm, locale, callback, password: PASSWORD, fresh };
  return { ...stops, ...createBeside(there), ...createLate(there) };
}
const linkPath = (realm: string): string => `/realms/${realm}/login/link`;
