// Owns: where the links of mails lead, whatever host a request says that it asked.
// Does not own: what the links are good for (recovery.test.ts, new-device.test.ts).
// Implements: specification 2.6; OWASP WSTG "Testing for Host Header Injection".
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createInvitation } from '../../../server/contract/invitations.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';

const FOREIGN = 'links.attacker.example';
/** The server's operator configured it. */
const OTHER = 'login.acme.example';
const FORWARDED = {
  'X-Forwarded-Host': FOREIGN,
  'X-Forwarded-Server': FOREIGN,
  'X-Forwarded-Port': '8443',
  'X-Forwarded-Proto': 'https',
  'X-Host': FOREIGN,
  'X-Original-URL': `https://${FOREIGN}/`,
  Forwarded: `for=192.0.2.9;host=${FOREIGN};proto=https`,
};
let site: MailingServer;
let realm = '';
// The tests speak from the proxy's address, so that forwarding headers count as far as they ever do.
const startBehindProxy = ({ now }: { now: () => Date }) =>
  startMailingServer({ now, env: { SVC_TRUST_PROXY: '127.0.0.1', SVC_OTHER_ADDRESSES: `https://${OTHER}/` } });
freshRealms('mailedlinks', startBehindProxy, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  const user = { username: 'ada', password: PASSWORD, email: `ada@${realm}.example`, emailVerified: true };
  await site.server.admin.call(createUser, { params: { realm }, body: user });
  await site.sendsMail(realm);
});

interface Lie {
  host: string;
  headers?: Record<string, string>;
  /** The request line names the foreign host, too. */
  absolute?: boolean;
}
const lies: [string, Lie][] = [
  ['a lying Host header', { host: FOREIGN }],
  ['what proxies say of the host', { host: FOREIGN, headers: FORWARDED }],
  ['a request line with another host', { host: FOREIGN, headers: FORWARDED, absolute: true }],
  ['a host that holds an address', { host: `${FOREIGN}:80@127.0.0.1` }],
];

/** Sends the form by hand: a client would say the host that it asks. @returns the answer as it came */
async function sendForm(path: string, fields: Record<string, string>, cookie: string, lie: Lie): Promise<string> {
  const { hostname, port } = new URL(site.server.baseUrl);
  const body = new URLSearchParams(fields).toString();
  const headers = {
    Host: lie.host,
    ...lie.headers,
    Cookie: cookie,
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': String(body.length),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`POST ${lie.absolute ? `http://${FOREIGN}` : ''}${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  return textOf(socket);
}

/** Fills in the page's form, all of it under a false name. */
async function fill(path: string, fields: Record<string, string>, lie: Lie, headers = {}): Promise<string> {
  const who = createPerson(site.server.baseUrl, headers);
  const page = await who.open(path);
  const cookie = [...who.jar].map(([name, value]) => `${name}=${value}`).join('; ');
  return sendForm(new URL(page.url).pathname, { ...page.fields, do: 'next', ...fields }, cookie, lie);
}
const linksIn = (mail: string): string[] => mail.match(/https?:\/\/[^\s"<>]+/g) ?? [];
function expectOwnLinks(mail: string): void {
  const links = linksIn(mail);
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect(link.startsWith(`${site.server.baseUrl}/realms/${realm}/`), link).toBe(true);
  expect(mail).not.toContain(FOREIGN);
}

test.each(lies)('the link to a new password leads here, and so does the answer, for %s', async (_, lie) => {
  const answer = await fill(`/realms/${realm}/login/forgot`, { username: 'ada' }, lie);
  expect(answer).toMatch(/^HTTP\/1\.1 (?:200|303) /);
  expect(answer).not.toContain(FOREIGN);
  expectOwnLinks(await site.mailTo(`ada@${realm}.example`, 'opening this link'));
});

test.each(lies)('the link that ends a stranger’s access leads here, for %s', async (_, lie) => {
  const path = `/realms/${realm}/login`;
  const body = { username: 'ada', password: PASSWORD };
  const home = createPerson(site.server.baseUrl);
  await home.fill(await home.open(path), body);
  const device = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36' };
  const answer = await fill(
    path,
    body,
    { ...lie, headers: { ...lie.headers, 'User-Agent': device['user-agent'] } },
    device,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 30\d /);
  expect(answer).not.toContain(FOREIGN);
  expectOwnLinks(await site.mailTo(`ada@${realm}.example`, 'on a device that we have not seen before'));
});

describe('with the realm’s issuer at another host', () => {
  const issuedAt = (host: string) =>
    site.server.admin.call(putSettings, { params: { realm }, body: { issuer: `https://${host}/realms/${realm}` } });

  test.each(lies)('the link to a new password leads here, for %s', async (_, lie) => {
    await issuedAt(FOREIGN);
    const answer = await fill(`/realms/${realm}/login/forgot`, { username: 'ada' }, lie);
    expect(answer).toMatch(/^HTTP\/1\.1 (?:200|303) /);
    expectOwnLinks(await site.mailTo(`ada@${realm}.example`, 'opening this link'));
  });

  test('an invitation leads here, whatever host the administrator’s request says', async () => {
    await issuedAt(FOREIGN);
    const { admin } = site.server;
    await admin.call(createInvitation, {
      params: { realm },
      body: { email: `eve@${realm}.example` },
      headers: { 'x-forwarded-host': FOREIGN },
    } as never);
    expectOwnLinks(await site.mailTo(`eve@${realm}.example`, '/realms/'));
  });

  test('it leads there once the server’s operator has configured that address, for a browser that asks there', async () => {
    await issuedAt(OTHER);
    await fill(`/realms/${realm}/login/forgot`, { username: 'ada' }, { host: OTHER });
    const mail = await site.mailTo(`ada@${realm}.example`, 'opening this link');
    expect(linksIn(mail).every((link) => link.startsWith(`https://${OTHER}/realms/${realm}/`))).toBe(true);
  });
});
