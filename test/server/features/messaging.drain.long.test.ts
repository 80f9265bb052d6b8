// Owns: how fast very many queued mails are sent, against what the mail server itself takes, and in how much memory.
// Does not own: single messages (messaging.delivery.test.ts), mail servers that hang (messaging.hanging.test.ts).
// Implements: decisions "Messaging".
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import nodemailer from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bySystem } from '../../../server/contract/events.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { makeServerCertificate } from '../../support/gateways.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const MAILS = 10_000;
/** As many connections as the server opens, each mail taken after this long: what a mail server that is near does. */
const [CONNECTIONS, TAKES_MS] = [6, 50];
const MB = 1024 * 1024;

let server: TestServer;
let asking: Asking;
let folder = '';
let gateway: SMTPServer;
let port = 0;
let ca = '';
let taken = 0;

beforeAll(async () => {
  const own = await makeServerCertificate();
  ca = own.ca;
  gateway = new SMTPServer({
    ...{
      cert: own.cert,
      key: own.key,
      authOptional: true,
      disableReverseLookup: true,
      logger: false,
      closeTimeout: 500,
    },
    onData(stream, _, done) {
      stream.resume();
      stream.on('end', () => {
        setTimeout(() => {
          taken += 1;
          done();
        }, TAKES_MS);
      });
    },
  });
  gateway.on('error', () => {});
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', () => resolve()));
  port = (gateway.server.address() as AddressInfo).port;
  folder = await mkdtemp(path.join(os.tmpdir(), 'drain-'));
  const file = path.join(folder, 'ca.crt');
  await writeFile(file, ca);
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: file } });
  asking = startAsking(server);
});
afterAll(async () => {
  await asking?.stop();
  await server?.stop();
  await new Promise<void>((resolve) => gateway.close(() => resolve()));
  if (folder) await rm(folder, { recursive: true });
});

/** Mails a second. */
const rateOf = (mails: number, since: number) => mails / ((performance.now() - since) / 1000);
async function until(mails: number): Promise<void> {
  while (taken < mails) await new Promise((resolve) => setTimeout(resolve, 20));
}
function heap(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

test('ten thousand mails drain as fast as the mail server takes them, in memory that does not grow', {
  timeout: 1_200_000,
}, async () => {
  const transport = nodemailer.createTransport({
    ...{ pool: true, maxConnections: CONNECTIONS, host: '127.0.0.1', port, requireTLS: true, tls: { ca } },
  });
  let since = performance.now();
  await Promise.all(
    Array.from({ length: 1_000 }, (_, n) =>
      transport.sendMail({ from: 'a@example.com', to: `p${n}@example.com`, subject: 'Code', text: 'Your code is 1' }),
    ),
  );
  const itself = rateOf(1_000, since);
  transport.close();

  const realm = 'drain';
  await server.admin.call(createRealm, { body: { realm } });
  const config = { host: '127.0.0.1', port };
  await server.admin.call(putMessagingProvider, {
    params: { realm },
    body: { channel: 'EMAIL', driver: 'smtp', config },
  });
  const limits = { maxMessagesPerAddressPerHour: 100_000, maxEmailsPerHour: 1_000_000 };
  await server.admin.call(putSettings, { params: { realm }, body: limits });
  const { body: user } = await server.admin.call(createUser, { params: { realm }, body: { username: 'ada' } });
  taken = 0;
  const asked = 250;
  for (let n = 0; n < MAILS; n += asked)
    await asking.with.transact(realm, async (tx) => {
      for (let i = n; i < n + asked; i += 1)
        await asking.with.send(tx, {
          ...{ realm, by: bySystem, userId: user?.id ?? null, to: `p${i}@example.com`, templateKey: 'otp-email' },
          values: { code: '493817' },
          goodForSeconds: 7_200,
        });
    });
  // Some have gone meanwhile, the more the busier the machine is; what is left is enough to tell the speed by.
  const before = taken;
  expect(MAILS - before).toBeGreaterThan(500);
  const early = heap();
  since = performance.now();
  await until(MAILS);
  const drained = rateOf(MAILS - before, since);
  const grown = (heap() - early) / MB;
  console.log(
    `the mail server: ${itself.toFixed(0)}/s, drained: ${drained.toFixed(0)}/s, heap grew by ${grown.toFixed(1)} MB`,
  );
  // One mail after the other would be a sixth; other tests may share the machine with the drain alone.
  expect(drained / itself).toBeGreaterThan(0.5);
  expect(grown).toBeLessThan(20);
});
