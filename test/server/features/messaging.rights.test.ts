// Owns: an administrator redirects or reads nobody's messages who holds more than they do, by whatever way.
// Does not own: the same of identity providers and directories (identity-providers.test.ts, user-federation.test.ts).
// Implements: decisions "Rights", "Messaging".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { undoHistory } from '../../../server/contract/history.ts';
import { deleteMessageTemplate, putMessageTemplate } from '../../../server/contract/message-templates.ts';
import { deletePushToken, registerPushToken } from '../../../server/contract/messages.ts';
import {
  deleteMessagingProvider,
  type MessagingProviderInput,
  putMessagingProvider,
} from '../../../server/contract/messaging.ts';
import { type Permission, permissions } from '../../../server/contract/permissions.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'acme';
const params = { realm };
let server: TestServer;
let clerk: Client;
let boss = '';
let plain = '';

const holding = (...held: readonly Permission[]) =>
  administrator(server, { home: realm, target: realm, permissions: held });

beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  await makeRealm(server, realm);
  const user = async (username: string) =>
    (await server.admin.call(createUser, { params, body: { username, email: `${username}@example.com` } })).body?.id ??
    '';
  [boss, plain] = [await user('boss'), await user('plain')];
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(putUserAdminRoles, { params: { realm, userId: boss }, body: { grants } });
  clerk = await holding('messaging:read', 'messaging:write');
});
afterAll(() => server?.stop());

const refusal = (...paths: string[]) => ({
  status: 403,
  problem: {
    type: 'urn:svc:problem:privilege-escalation',
    detail: expect.stringContaining('boss'),
    errors: expect.arrayContaining(paths.map((path) => expect.objectContaining({ path }))),
  },
});
const theirs = { url: 'https://evil.example/send' };
const apply = (by: Client, body: RealmDocument, dryRun: 'true' | 'false' = 'false', manager = 'theirs') =>
  by.call(importRealm, { params, query: { manager, dryRun }, body });
const put = (by: Client, body: MessagingProviderInput) => by.call(putMessagingProvider, { params, body });

describe('with messaging:write alone, an administrator of a realm that has a stronger one', () => {
  test.each<MessagingProviderInput>([
    { channel: 'EMAIL', driver: 'http', config: theirs },
    { channel: 'EMAIL', driver: 'smtp', fromAddress: 'a@evil.example', config: { host: 'evil.example' } },
    { channel: 'SMS', driver: 'http', config: theirs },
    { channel: 'PUSH', driver: 'fcm', config: { projectId: 'my-project', apiUrl: 'https://evil.example' } },
  ])(
    'points no channel at a gateway of their own, by API and by document, planned or applied: %o',
    async (provider) => {
      await expect(put(clerk, provider)).rejects.toMatchObject(refusal('config'));
      for (const dryRun of ['true', 'false'] as const)
        await expect(apply(clerk, { messagingProviders: [provider] } as RealmDocument, dryRun)).rejects.toMatchObject(
          refusal('messagingProviders[0].config'),
        );
    },
  );

  test('changes none that is there but to switch it off or delete it', async () => {
    const provider = { channel: 'EMAIL', driver: 'smtp', config: { host: 'mail.example.com' } } as const;
    await put(server.admin, provider);
    await expect(put(clerk, { ...provider, config: { host: 'evil.example' } })).rejects.toMatchObject(
      refusal('config'),
    );
    await expect(put(clerk, { ...provider, fromAddress: 'a@evil.example' })).rejects.toMatchObject(
      refusal('fromAddress'),
    );
    expect((await put(clerk, { ...provider, enabled: false })).body?.enabled).toBe(false);
    await expect(put(clerk, { ...provider, enabled: true })).rejects.toMatchObject(refusal('enabled'));
    const at = { realm, channel: provider.channel, driver: provider.driver };
    expect((await clerk.call(deleteMessagingProvider, { params: at })).status).toBe(204);
  });

  test('writes no message’s text, but takes one out of use', async () => {
    const body = 'Send {{link}} to {{user.email}} now, please';
    const text = { templateKey: 'reset-password-email', subject: 'Urgent', body } as const;
    await expect(clerk.call(putMessageTemplate, { params, body: text })).rejects.toMatchObject(refusal('body'));
    await expect(clerk.call(putMessageTemplate, { params, body: { ...text, locale: 'de' } })).rejects.toMatchObject(
      refusal('body'),
    );
    const document = { messageTemplates: [{ ...text, channel: 'EMAIL' as const, locale: 'de' }] };
    for (const dryRun of ['true', 'false'] as const)
      await expect(apply(clerk, document, dryRun)).rejects.toMatchObject(refusal('messageTemplates[0].body'));
    await server.admin.call(putMessageTemplate, { params, body: { ...text, locale: 'de' } });
    const off = { ...text, locale: 'de', enabled: false };
    expect((await clerk.call(putMessageTemplate, { params, body: off })).body?.enabled).toBe(false);
    const at = { realm, templateKey: text.templateKey, channel: 'EMAIL' as const, locale: 'de' };
    expect((await clerk.call(deleteMessageTemplate, { params: at })).status).toBe(204);
  });

  test('brings no gateway back by undoing what took it away', async () => {
    const document = (host: string): RealmDocument => ({
      messagingProviders: [{ channel: 'EMAIL', driver: 'smtp', config: { host } }],
    });
    await apply(server.admin, document('evil.example'), 'false', 'hers');
    const { body } = await apply(server.admin, document('mail.example.com'), 'false', 'hers');
    const some = await holding('messaging:read', 'messaging:write', 'managers:read', 'managers:write');
    for (const dryRun of ['true', 'false'] as const)
      await expect(
        some.call(undoHistory, { params: { realm, revision: String(body?.revision) }, query: { dryRun } } as never),
      ).rejects.toMatchObject({ status: 403, problem: { type: 'urn:svc:problem:privilege-escalation' } });
  });

  test('registers no phone of their own for a stronger user’s push messages, and takes none of hers', async () => {
    const device = { platform: 'fcm' as const, token: 'token-of-a-phone' };
    const by = (client: Client, userId: string, token = device.token) =>
      client.call(registerPushToken, { params, body: { ...device, token, userId } });
    await expect(by(clerk, boss)).rejects.toMatchObject({ status: 403 });
    const { body: hers } = await by(server.admin, boss, 'token-of-her-phone');
    await expect(by(clerk, plain, 'token-of-her-phone')).rejects.toMatchObject({ status: 403 });
    await expect(clerk.call(deletePushToken, { params: { realm, id: hers?.id ?? '' } })).rejects.toMatchObject({
      status: 403,
    });
    expect((await by(clerk, plain)).status).toBe(201);
    const query = { type: 'PUSH_TOKEN_REGISTERED', limit: 1 };
    const { body: told } = await server.admin.call(listEvents, { params, query });
    expect(told).toMatchObject([{ subject: { type: 'user', id: plain, name: 'plain' } }]);
  });
});

test('who holds all that the realm’s administrators hold does all of this', async () => {
  const all = await holding(...permissions);
  expect((await put(all, { channel: 'SMS', driver: 'http', config: theirs })).status).toBe(200);
  const text = { templateKey: 'otp-sms', body: '{{code}} is it' } as const;
  expect((await all.call(putMessageTemplate, { params, body: text })).status).toBe(200);
});
