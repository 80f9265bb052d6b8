// Owns: importing a realm's own export: what becomes of its secrets, values from a file or the environment, and the short export.
// Does not own: what the server does with placeholders (server/features/operations/transfer.guesses.test.ts).
// Implements: specification 2.10 (placeholders).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { variablesOf, withVariables } from '../../cli/document-variables.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { fullRealm } from '../support/full-realm.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

const SECRET = 'the-secret-of-the-client-0123456789';
const document = {
  clients: [{ clientId: 'billing', grantTypes: ['client_credentials'], secret: SECRET }],
  webhooks: [{ name: 'audit', url: 'https://hooks.example.com/', eventTypes: '*', secret: SECRET }],
};
const named = (name: string) => `\${${name}}`;
let server: TestServer;
let api: Importer;
let dir: string;
const run = (
  args: readonly string[],
  { stdin = '', env = {} }: { stdin?: string; env?: Record<string, string> } = {},
) => realmctl({ ...asOperator(server), ...env }, args, { stdin });
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  dir = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
  api = await importer(server);
  await api.apply('acme', document, { manager: 'realmctl' });
});
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});
/** A client's sign-in, by the secret that it should have. */
async function signsIn(realm: string, secret: string): Promise<number> {
  const { status } = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`billing:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  return status;
}

describe('a realm’s own export', () => {
  test('is imported again, planned first or not, and its secrets stay', async () => {
    const { stdout } = await run(['export', 'acme']);
    expect(stdout).toContain(named('SVC_VAR_CLIENT_BILLING_SECRET'));
    for (const more of [['--dry-run'], [], ['--prune']]) {
      const again = await run(['import', 'acme', '-f', '-', ...more], { stdin: stdout });
      expect(again).toMatchObject({ code: 0 });
      expect(again.stdout).toContain(
        '= keep the secret of client billing: the server has no SVC_VAR_CLIENT_BILLING_SECRET',
      );
      expect(again.stdout).not.toMatch(/~ update client|- delete/);
    }
    expect(await signsIn('acme', SECRET)).toBe(200);
    expect((await run(['diff', '--realm', 'acme', '-f', '-'], { stdin: stdout })).code).toBe(0);
  });

  test('into another realm takes its secrets from a file, or from the environment', async () => {
    const { stdout } = await run(['export', 'acme']);
    const without = await run(['import', 'copy', '-f', '-', '--yes'], { stdin: stdout });
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('SVC_VAR_WEBHOOK_AUDIT_SECRET') });
    const file = path.join(dir, 'secrets.env');
    await writeFile(
      file,
      '# of the copy\nexport SVC_VAR_CLIENT_BILLING_SECRET="a-secret-of-the-copy-0123456789"\nOTHER=x\n',
    );
    const env = { SVC_VAR_WEBHOOK_AUDIT_SECRET: SECRET, SVC_VAR_CLIENT_BILLING_SECRET: 'not-this-one-0123456789' };
    const done = await run(['import', 'copy', '-f', '-', '--yes', '--env-file', file], { stdin: stdout, env });
    expect(done).toMatchObject({ code: 0 });
    expect(done.stderr).toContain('Filled in: SVC_VAR_CLIENT_BILLING_SECRET, SVC_VAR_WEBHOOK_AUDIT_SECRET.');
    expect(done.stdout + done.stderr).not.toContain('a-secret-of-the-copy');
    expect(await signsIn('copy', 'a-secret-of-the-copy-0123456789')).toBe(200);
  });

  test('without defaults says only what makes it this realm, and makes the same realm', async () => {
    await run(['import', 'plain', '-f', '-', '--yes'], { stdin: '{}' });
    expect(JSON.parse((await run(['export', 'plain', '--no-users', '--without-defaults'])).stdout)).toEqual({
      formatVersion: 2,
    });
    const { stdout } = await run(['export', 'acme', '--without-defaults', '--no-users']);
    expect(JSON.parse(stdout)).toEqual({
      formatVersion: 2,
      requiredEnv: ['SVC_VAR_CLIENT_BILLING_SECRET', 'SVC_VAR_WEBHOOK_AUDIT_SECRET'],
      clients: [
        { clientId: 'billing', grantTypes: ['client_credentials'], secret: named('SVC_VAR_CLIENT_BILLING_SECRET') },
      ],
      webhooks: [
        {
          name: 'audit',
          url: 'https://hooks.example.com/',
          eventTypes: '*',
          secret: named('SVC_VAR_WEBHOOK_AUDIT_SECRET'),
        },
      ],
    });
  });

  test('of one of everything, without defaults, makes a realm that exports the same', async () => {
    await api.apply('full', fullRealm());
    const short = await api.download('full', '?defaults=false');
    const whole = await api.download('full');
    expect(short.length).toBeLessThan(whole.length);
    const env = Object.fromEntries(
      JSON.parse(whole).requiredEnv.map((name: string) => [name, 'a-value-that-is-long-enough-0123456789']),
    );
    // no two realms have one issuer
    await server.admin.call(putSettings, { params: { realm: 'full' }, body: { issuer: null } });
    const made = await run(['import', 'full-again', '-f', '-', '--yes'], { stdin: short, env });
    expect(made).toMatchObject({ code: 0, stderr: expect.not.stringContaining('realmctl:') });
    const again = JSON.parse(await api.download('full-again'));
    for (const [section, value] of Object.entries(JSON.parse(whole)))
      if (section !== 'users') expect({ [section]: again[section] }).toEqual({ [section]: value });
  });
});

describe('a value', () => {
  async function filled(value: unknown, sizes: number[] = [1, 7, 4096]): Promise<string[]> {
    const variables = new Map([['SVC_VAR_A', 'a "value"\n']]);
    const bytes = Buffer.from(JSON.stringify(value));
    return Promise.all(
      sizes.map(async (size) => {
        async function* chunks() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        const out: Uint8Array[] = [];
        for await (const piece of withVariables(chunks(), variables, () => {})) out.push(piece);
        return Buffer.concat(out).toString();
      }),
    );
  }
  const A = named('SVC_VAR_A');
  test('goes only where a secret stands, however the document comes', async () => {
    const value = (secret: string) => ({
      realm: { displayName: A, secret: A },
      clients: [{ clientId: 'x', name: A, secret, attributes: { secret: A }, redirectUris: [A] }, { secret: 'é€' }],
      users: [{ username: A, secret: A, attributes: { secret: [A] } }],
      roles: [{ name: 'secret', description: A }],
    });
    for (const text of await filled(value(A))) expect(JSON.parse(text)).toEqual(value('a "value"\n'));
    for (const text of await filled({ clients: [{ secret: named('SVC_VAR_B') }] }))
      expect(text).toContain(named('SVC_VAR_B'));
  });

  test('has a name SVC_VAR_…; a line that is none is told by its number, and not shown', async () => {
    const file = path.join(dir, 'broken.env');
    await writeFile(file, 'SVC_VAR_A=1\nwhat is secret\n');
    const refused = await run(['import', 'acme', '-f', '-', '--env-file', file], { stdin: '{}' });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('broken.env:2 is no line NAME=VALUE') });
    expect(refused.stderr).not.toContain('what is secret');
    await writeFile(file, "SVC_VAR_A='quoted'\nPATH=/evil\n");
    expect([...(await variablesOf({ HOME: '/x', SVC_VAR_B: 'b' }, file))].sort()).toEqual([
      ['SVC_VAR_A', 'quoted'],
      ['SVC_VAR_B', 'b'],
    ]);
  });
});
