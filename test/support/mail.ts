// Owns: a test server whose realms send mail to a real SMTP server, and what stands in the mails.
// Does not own: gateways themselves (gateways.ts).
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { putMessagingProvider } from '../../server/contract/messaging.ts';
import { type Mail, startMailServer } from './gateways.ts';
import { eventually } from './operator.ts';
import { startTestServer } from './server.ts';

/** A part that isn't mostly ASCII is sent in base64. */
const BASE64 = /(content-transfer-encoding: base64\r\n(?:.+\r\n)*\r\n)([\w+/=\r\n]+)/gi;
const plain = ({ raw }: Mail): string =>
  raw
    .replace(BASE64, (_, head: string, body: string) => head + Buffer.from(body, 'base64').toString('utf8'))
    .replaceAll('=\r\n', '')
    .replaceAll('=3D', '=');

export async function startMailingServer({
  env = {},
  caFiles = [],
  now = () => new Date(),
  retryDelaysSeconds = [0, 0],
}: {
  env?: Record<string, string>;
  /** Of other servers that the test has. */
  caFiles?: readonly string[];
  now?: () => Date;
  retryDelaysSeconds?: readonly number[];
} = {}) {
  const mail = await startMailServer();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'mail-'));
  const file = path.join(folder, 'ca.crt');
  const others = await Promise.all(caFiles.map((one) => readFile(one, 'utf8')));
  await writeFile(file, [mail.ca, ...others].join('\n'));
  const server = await startTestServer({
    env: { SVC_OUTBOUND_CA_FILE: file, ...env },
    retryDelaysSeconds,
    now,
  });
  return {
    server,
    mails: mail.mails,
    /** The realm's mail goes out from now on. */
    async sendsMail(realm: string): Promise<void> {
      const config = { host: '127.0.0.1', port: mail.port };
      const body = { channel: 'EMAIL', driver: 'smtp', config } as const;
      await server.admin.call(putMessagingProvider, { params: { realm }, body });
    },
    /** Waits for the mail to this address that holds these words. */
    async mailTo(address: string, words: string): Promise<string> {
      const found = () => mail.mails.findLast((one) => one.to.includes(address) && plain(one).includes(words));
      await eventually(async () => expect(found(), `a mail to ${address} with: ${words}`).toBeDefined());
      const one = found();
      return one ? plain(one) : '';
    },
    async stop(): Promise<void> {
      await server.stop();
      await mail.stop();
      await rm(folder, { recursive: true });
    },
  };
}
export type MailingServer = Awaited<ReturnType<typeof startMailingServer>>;

/** The path of the first link in a mail. */
export function linkIn(mail: string): string {
  const [link = ''] = /https?:\/\/\S+/.exec(mail) ?? [];
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}
export const codeIn = (mail: string): string =>
  /\b(?:\d{8}|\d{6})\b/.exec(mail.slice(mail.indexOf('\r\n\r\n')))?.[0] ?? '';
