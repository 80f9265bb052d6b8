// Owns: what a person hears by mail who refuses a sign-in on their device.
// Does not own: approvals and denials themselves (push.test.ts), other notices (new-device.test.ts).
import { expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { createUser } from '../../../server/contract/users.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { deviceFor, numberOn } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';

let site: MailingServer;
let realm = '';
let userId = '';
const { seconds } = freshRealms('told', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  const body = { username: 'ada', password: PASSWORD, email: `ada@${realm}.example`, emailVerified: true };
  userId = (await site.server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
  const executions: ExecutionInput[] = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'push', requirement: 'REQUIRED' },
  ];
  await site.server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
  await site.sendsMail(realm);
});

async function asked() {
  const device = await deviceFor(site.server, realm, userId, { clock: seconds });
  const person = createPerson(site.server.baseUrl);
  const first = await person.open(authorizePath(realm, 'spa', newVerifier()));
  const page = await person.fill(first, { username: 'ada', password: PASSWORD });
  const [{ id }] = (await device.waiting()).body;
  return { device, page, id };
}
const refusals = () =>
  site.mails.filter(({ to, raw }) => to.includes(`ada@${realm}.example`) && raw.includes('was refused there'));

test('who refuses a sign-in on their device is told what to do about it', async () => {
  const { device, id } = await asked();
  expect((await device.deny(id)).status).toBe(204);
  const mail = await site.mailTo(`ada@${realm}.example`, 'was refused there');
  expect(mail).toContain('your password');
  expect(mail).toContain('set a new password');
  expect((await device.deny(id)).status).toBe(409);
  expect(refusals()).toHaveLength(1);
});

test('who approves hears nothing', async () => {
  const { device, id, page } = await asked();
  expect((await device.approve(id, numberOn(page))).status).toBe(204);
  expect(refusals()).toEqual([]);
});
