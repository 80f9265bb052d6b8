// Owns: journeys through the console as tests: each in a realm of its own, by the keyboard alone and in one other mode.
// Does not own: how a person acts (console-hand.ts), the journeys (test/console/journeys.*.long.test.ts).
// Implements: decisions "Console": everything by the keyboard, in narrow, dark, enlarged and mirrored windows.
//
// All journeys; those with a file are by mouse at 1440 px in that file too:
//   people    find a user, new password, set-up link (users) · locked user, report, unlock (users, help-desk) · end a session, remove a
//             factor (help-desk) · give a role, join a group (users) · group with a member (access) · bulk action (users) · import with a
//             refused row (users) · export and erase · create a user (users) · token preview (users) · policies (access) · agent's review
//             (access) · organization: member, domain, invitation (access) · admin role (access)
//   set-up    web application (wizards), single page, native app, MCP client, service, SAML application (wizards) · identity provider
//             (wizards) · mail (wizards) · directory (directory-wizard) · SCIM (wizards) · webhook (wizards) · workload (wizards) · first
//             steps (first-page) · flow and its binding (flows) · colour (look) · text of the pages (look)
//   realm     log: filter, event, export (audit) · follow it (audit) · try a delivery again (operations) · rotate keys (operations) ·
//             hold (managed) · modify and copy (managed) · undo (declared) · compare (declared) · setting (kinds) · delete a role (kinds) ·
//             palette (first-page) · realm chooser with pins (first-page) · address of a colleague, back (first-page) · expired session
//             (first-page) · step-up · sign out · create and edit a client (kinds)
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { createRealm } from '../../server/contract/realms.ts';
import { launchBrowser } from './chromium.ts';
import type { Credentials } from './console.ts';
import { type Hand, type Mode, OTHER_MODES, openHand } from './console-hand.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface Start {
  server: TestServer;
  realm: string;
}
export interface Journey {
  /** As an administrator would say it; unique in its file. */
  name: string;
  /** Makes what the realm has before; returns what the walk needs to know of it. @default nothing */
  prepare?: (start: Start) => Promise<Record<string, string>>;
  /** @param made what `prepare` returned */
  walk(hand: Hand, start: Start & { made: Record<string, string> }): Promise<void>;
  /** Signed in as the administrator of master unless it says otherwise; null: not signed in. */
  as?: (start: Start) => Promise<Credentials | null>;
  /** @default the keyboard, and the next one of the others */
  modes?: readonly Mode[];
}

/**
 * Tests of a file. @param options of its server; `stop` ends what they name
 * @param first which of the other modes the file begins with, so that areas differ
 */
export function testJourneys(
  journeys: readonly Journey[],
  {
    options = async () => ({}),
    stop,
    first = 0,
  }: {
    options?: () => Promise<Parameters<typeof startTestServer>[0]>;
    stop?: () => Promise<void>;
    first?: number;
  } = {},
): void {
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await startTestServer(await options());
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await stop?.();
  });
  for (const [n, { name, prepare, walk, as, modes }] of journeys.entries())
    test.each(modes ?? (['keyboard', OTHER_MODES[(first + n) % OTHER_MODES.length] ?? 'phone'] as const))(
      `${name} (%s)`,
      async (mode) => {
        const realm = `j${n}-${mode}`;
        const start = { server, realm };
        await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
        const made = (await prepare?.(start)) ?? {};
        const credentials = await as?.(start);
        const hand = await openHand({ server, browser }, mode, credentials === undefined ? {} : { as: credentials });
        try {
          await walk(hand, { ...start, made });
        } finally {
          await hand.close();
        }
      },
    );
}
