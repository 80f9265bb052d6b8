// Owns: every page of the console on a realm full of things whose texts are markup, on narrow and wide windows, from right to left.
// Does not own: single pages (the files beside this one), which pages a role shows (roles.long.test.ts).
// Implements: decisions "Console"; no text of the realm is ever markup, and no page is wider than its window.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { declaredEntries } from '../../console/generated/kinds.ts';
import { writtenOut } from '../../console/kinds/written-out.ts';
import { createClient } from '../../server/contract/clients.ts';
import { createGroup } from '../../server/contract/groups.ts';
import { createOrganization } from '../../server/contract/organizations.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { walkConsole } from '../support/console-walk.ts';
import { fullRealm } from '../support/full-realm.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const realm = 'acme';
const params = { realm };
const MARKUP = `<img src=x onerror="globalThis.ran=1"><script>ran=1`;
/** Texts that people read, and nothing refers to. */
const TEXTS = new Set(['displayName', 'description', 'purpose', 'consentText', 'welcomeText', 'reason']);
let server: TestServer;
let browser: Browser;

/** The document with markup in the texts that people read. */
const marked = (value: unknown, key = ''): unknown =>
  Array.isArray(value)
    ? value.map((one) => marked(one))
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, of]) => [name, marked(of, name)]))
      : typeof value === 'string' && TEXTS.has(key)
        ? `${MARKUP} ${value}`
        : value;

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  const { admin } = server;
  await admin.call(createRealm, { body: { realm, displayName: MARKUP } });
  await admin.call(importRealm, {
    params,
    query: { manager: 'k8s:prod/identity/Realm/acme' },
    body: Object(marked(fullRealm())),
  });
  const name = `50%25 ${MARKUP}`;
  await admin.call(createUser, { params, body: { username: 'eve', firstName: name, lastName: name } });
  await admin.call(createClient, { params, body: { clientId: 'a-markup', name } });
  await admin.call(createRole, { params, body: { name, description: name } });
  await admin.call(createGroup, { params, body: { name } });
  await admin.call(createOrganization, { params, body: { name } });
  const sql = sqlOver(server.pool);
  await sql`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, created_at, error)
    select realm_id, ${newId()}, id, ${newId()}, 'ROLE_CREATED', '{}', 'dead', now(), ${MARKUP} from webhook
    where realm_id = ${realm} limit 1`;
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Kinds with pages of their own. */
const special = new Set(['groups', 'organizations', 'agents', 'flows', 'authorization-services', 'admin-roles']);
const generic = new Set(
  [...declaredEntries, ...writtenOut].map(({ path }) => path).filter((path) => !special.has(path)),
);
/** Pages with the same parts: lists, and objects, of the generic kinds; a form has parts of its own. */
function partsOf(name: string): string {
  const [path = '', tab = ''] = name.slice(1).split('?');
  const [section = '', object, ...rest] = path.split('/');
  if (rest.length > 0 || tab !== '' || !generic.has(section)) return [section, ...rest, tab].join(' ');
  return object === undefined ? 'list' : 'object';
}
/** How many pages with the same parts axe looks at. */
const ALIKE = 3;
/** One of so many of them is looked at in dark colours too: all pages take their colours from the same names. */
const DARK = 5;

test('no text of the realm is markup on any page, and axe finds no fault', { timeout: 900_000 }, async () => {
  const console = await openConsole({ server, browser });
  const stops: string[] = [];
  const looked: string[] = [];
  const wrong: string[] = [];
  await walkConsole(console, realm, async ({ name, page }) => {
    stops.push(name);
    try {
      const parts = partsOf(name);
      if (looked.filter((one) => one === parts).length < ALIKE) {
        // what is around `main` is the same on all pages
        await console.look(name, { ...(looked.length > 0 && { within: 'main' }), dark: looked.length % DARK === 0 });
        looked.push(parts);
      }
      expect(console.complaints(), name).toEqual([]);
    } catch (cause) {
      wrong.push(`${cause} ${JSON.stringify(Object(cause).actual)}`.slice(0, 2000));
    }
    if ((await page.evaluate('globalThis.ran')) !== undefined) wrong.push(`${name}: the markup ran`);
    if ((await page.locator('img[src=x]').count()) > 0) wrong.push(`${name}: the markup is on the page`);
  });
  await console.close();
  expect(wrong).toEqual([]);
  expect(stops.length, stops.join('\n')).toBeGreaterThan(80);
  expect(looked.length, looked.join('\n')).toBeGreaterThan(50);
});

test.each([
  { width: 390, direction: 'ltr' },
  { width: 720, direction: 'ltr' },
  { width: 768, direction: 'rtl' },
  { width: 1440, direction: 'rtl' },
])('no page is wider than a window of $width px ($direction)', async ({ width, direction }) => {
  const console = await openConsole({ server, browser }, { viewport: { width, height: 900 } });
  await console.page.addInitScript(
    `addEventListener('DOMContentLoaded', () => { document.documentElement.dir = '${direction}' })`,
  );
  const wide: string[] = [];
  await walkConsole(console, realm, async ({ name, page }) => {
    const over = Number(await page.evaluate('document.scrollingElement.scrollWidth - innerWidth'));
    if (over > 0) wide.push(`${name}: ${over} px`);
  });
  await console.close();
  expect(wide).toEqual([]);
});
