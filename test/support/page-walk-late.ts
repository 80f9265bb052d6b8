// Owns: the way of a person in a browser to pages that come when too much time has passed: on a server of its own, whose clock is moved.
// Does not own: what must hold of a page (page-checks.ts).
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { TRANSLATED_LANGUAGES } from '../../server/http/languages.ts';
import { authorizePath, newVerifier } from './applications.ts';
import { makeRealm } from './clients.ts';
import { deviceFor } from './devices.ts';
import type { Beside } from './page-walk-beside.ts';
import { startTestServer, type TestServer } from './server.ts';

export const lateNames = ['push-late', 'qr-late'] as const;
type Stop = (typeof lateNames)[number];
const MINUTE = 60_000;
const after = [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
  { authenticatorId: 'push', requirement: 'REQUIRED' as const },
];
const flows = { push: after, qr: [{ authenticatorId: 'qr', requirement: 'REQUIRED' as const }] };

interface Late {
  server: TestServer;
  /** Where a sign-in by that flow begins. */
  at(flow: keyof typeof flows): string;
  person(username: string): Promise<string>;
  pass(milliseconds: number): void;
}

export function createLate({ realm, locale, callback, password, fresh }: Omit<Beside, 'site'>) {
  async function late(go: (there: Late) => Promise<void>): Promise<void> {
    let moved = 0;
    const server = await startTestServer({ now: () => new Date(Date.now() + moved), jobs: false });
    try {
      await makeRealm(server, realm);
      const application = { tokenEndpointAuthMethod: 'none' as const, redirectUris: [callback] };
      await server.admin.call(importRealm, {
        params: { realm },
        body: {
          realm: {
            displayName: 'Northwind Library',
            defaultLocale: locale,
            supportedLocales: [...TRANSLATED_LANGUAGES],
          },
          flows: Object.entries(flows).map(([alias, executions]) => ({ alias, executions })),
          clients: Object.keys(flows).map((flow) => ({
            ...application,
            clientId: flow,
            name: 'Reading Room',
            flowOverride: flow,
          })),
        },
      });
      await go({
        server,
        at: (flow) => server.baseUrl + authorizePath(realm, flow, newVerifier(), { redirect_uri: callback }),
        async person(username) {
          const name = { firstName: 'Maximiliane', lastName: 'von Hohenstein' };
          const body = { username, password, ...name };
          return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
        },
        pass(milliseconds) {
          moved += milliseconds;
        },
      });
    } finally {
      await server.stop();
    }
  }

  const stops: Record<Stop, () => Promise<void>> = {
    'push-late': () =>
      late(async ({ server, at, person, pass }) => {
        await deviceFor(server, realm, await person('lars'));
        await fresh(async ({ page, open, signIn, see }) => {
          await open(at('push'));
          await signIn('lars');
          await page.locator('p.number').waitFor();
          pass(3 * MINUTE);
          await page.reload();
          await see('push-over');
        });
      }),
    'qr-late': () =>
      late(({ at, pass }) =>
        fresh(async ({ page, open, see }) => {
          await open(at('qr'));
          await page.locator('.qr').waitFor();
          pass(6 * MINUTE);
          await page.reload();
          await see('qr-over');
        }),
      ),
  };
  return stops;
}
