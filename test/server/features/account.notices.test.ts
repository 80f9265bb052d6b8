// Owns: the mails that tell people of changes to how they sign in, whoever made the change.
// Does not own: what a mail says of a profile, an address, sessions (account.test.ts), identities (brokering.test.ts).
// Implements: specification 4.11.
import { expect, test } from 'vitest';
import { listMessages } from '../../../server/contract/messages.ts';
import { createUser, deleteCredential, listCredentials, setPassword } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';

const ADDED = 'a new way to sign in was set up';
const REMOVED = 'a way to sign in was removed';
let site: MailingServer;
let realm = '';
let userId = '';
const { seconds } = freshRealms('told', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  await site.sendsMail(realm);
  const user = { username: 'ada', password: PASSWORD, email: address(), emailVerified: true };
  userId = (await call(createUser, { params: { realm }, body: user })).body?.id ?? '';
});

const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const address = () => `ada@${realm}.example`;
const credentialOf = async (type: string) =>
  (await call(listCredentials, { params: { realm, userId } })).body?.find((one) => one.type === type);
async function signedIn() {
  const who = createPerson(site.server.baseUrl);
  const page = await who.open(`/realms/${realm}/login?for=account`);
  return { who, page: await who.fill(page, { username: 'ada', password: PASSWORD }) };
}
const press = (who: Person, { text }: ShownPage, action: string, more: Record<string, string> = {}) => {
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(text) ?? [];
  return who.post(`/realms/${realm}/account/${action}`, { csrf, ...more });
};
async function withOtp() {
  const { who, page } = await signedIn();
  const setUp = await press(who, page, 'credentials/set-up', { action: 'CONFIGURE_OTP' });
  return { who, page: await who.fill(setUp, { code: codeAt(secretOn(setUp), seconds() * 1000) }) };
}

test('who sets up an authenticator app is told, and told again when it is removed', async () => {
  const { who, page } = await withOtp();
  await site.mailTo(address(), ADDED);
  const otp = await credentialOf('otp');
  await press(who, page, `credentials/otp/${otp?.id}/remove`);
  expect(await credentialOf('otp')).toBeUndefined();
  await site.mailTo(address(), REMOVED);
});

test('new recovery codes are told', async () => {
  const { who, page } = await signedIn();
  const shown = await press(who, page, 'credentials/set-up', { action: 'CONFIGURE_RECOVERY_CODES' });
  await who.fill(shown, { saved: 'on' });
  await site.mailTo(address(), ADDED);
});

test('what an administrator removes and sets is told to the person, too', async () => {
  await withOtp();
  const otp = await credentialOf('otp');
  await call(deleteCredential, { params: { realm, userId, type: 'otp', id: otp?.id ?? '' } });
  await site.mailTo(address(), REMOVED);
  await call(setPassword, { params: { realm, userId }, body: { password: 'four dry umbrellas' } });
  await site.mailTo(address(), 'your password was changed');
});

test('a known browser that is forgotten is told', async () => {
  const { who } = await signedIn();
  const page = await who.open(`/realms/${realm}/account?view=devices`);
  const [, id = ''] = /\/browsers\/([0-9a-f]{64})\/forget/.exec(page.text) ?? [];
  await press(who, page, `browsers/${id}/forget`);
  await site.mailTo(address(), 'a browser that was known to be yours was forgotten');
});

test('whose account was just made is told nothing', async () => {
  expect((await call(listMessages, { params: { realm } })).body).toEqual([]);
});
