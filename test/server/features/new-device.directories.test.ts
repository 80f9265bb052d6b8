// Owns: what "this wasn't me" does to a password that a directory keeps.
// Does not own: passwords of the realm itself (new-device.test.ts), directories (ldap-sign-in.test.ts).
// Implements: decisions "New devices".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createDirectory } from '../../../server/contract/user-federation.ts';
import { deleteCredential, listCredentials, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
let site: MailingServer;
let slapd: Slapd;
beforeAll(async () => {
  slapd = await startSlapd(personLdif('ada'));
  site = await startMailingServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
});
afterAll(async () => {
  await site?.stop();
  await slapd?.stop();
});

const signIn = async (realm: string, headers: Record<string, string> = {}) => {
  const who = createPerson(site.server.baseUrl, headers);
  return who.fill(await who.open(`/realms/${realm}/login`), { username: 'ada', password: 'password of ada' });
};

test.each(['import', 'live'] as const)(
  'by a directory that is in mode %s nobody signs in with a reported password, until an administrator lets it be tried anew',
  async (mode) => {
    const realm = `reported-${mode}`;
    const { admin } = site.server;
    await makePeopledRealm(site.server, realm, []);
    await site.sendsMail(realm);
    const users = { base: `ou=people,${BASE}`, trustEmail: true };
    const connection = { urls: [slapd.ldap], bindDn: READER };
    const body = { alias: 'corporate', mode, connection, users, secret: READER_PASSWORD };
    await admin.call(createDirectory, { params: { realm }, body });
    expect((await signIn(realm)).url).toContain('/account');
    expect((await signIn(realm, { 'user-agent': CHROME })).url).toContain('/account');
    const mail = await site.mailTo('ada@example.org', `/realms/${realm}/login/not-me`);
    const owner = createPerson(site.server.baseUrl);
    const ended = await owner.fill(await owner.open(linkIn(mail)), {});
    expect(ended.text).toContain('The password of your account no longer works');
    for (let times = 0; times < 2; times += 1)
      expect((await signIn(realm)).text).toContain('The username or password is wrong');
    const failed = await admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } });
    expect(failed.body?.map(({ data }) => data.reason)).toEqual(['reported', 'reported']);
    const userId = (await admin.call(listUsers, { params: { realm }, query: { limit: 10 } })).body?.[0]?.id ?? '';
    const [password] = (await admin.call(listCredentials, { params: { realm, userId } })).body ?? [];
    expect(password).toMatchObject({ type: 'password', reported: true });
    await admin.call(deleteCredential, { params: { realm, userId, type: 'password', id: password?.id ?? '' } });
    expect((await signIn(realm)).url).toContain('/account');
  },
);
