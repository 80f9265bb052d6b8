// Owns: what realmctl does where the server that somebody was talked into is not a friend.
// Does not own: signing in where it is (login.test.ts).
// Implements: RFC 9700 §4.4 (mix-up), RFC 8252 §8.10; docs/cli.md.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInPage } from '../../cli/oauth.ts';
import { startRealmctl } from '../support/realmctl.ts';

let folder: string;
let hostile: Server;
let address = '';
let said: Record<string, unknown> = {};
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-hostile-'));
  hostile = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(said));
  });
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
  const at = hostile.address();
  address = typeof at === 'object' && at !== null ? `http://127.0.0.1:${at.port}` : '';
});
afterAll(async () => {
  await new Promise((resolve) => hostile.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const env = () => ({ REALMCTL_CONFIG: path.join(folder, 'config.json') });

describe('a server that is not a friend', () => {
  test.each(['file:///usr/bin/true', 'calculator:now', 'javascript:alert(1)'])(
    'cannot have %s opened instead of a page',
    async (authorization_endpoint) => {
      said = {
        issuer: `${address}/realms/master`,
        authorization_endpoint,
        token_endpoint: `${address}/realms/master/oauth2/token`,
      };
      const browser = path.join(folder, 'browser.sh');
      const opened = path.join(folder, 'opened');
      await rm(opened, { force: true });
      await writeFile(browser, `#!/bin/sh\necho "$1" > ${opened}\n`);
      await chmod(browser, 0o755);
      const cli = startRealmctl({ ...env(), BROWSER: browser }, ['login', address, '--browser']);
      const { code } = await cli.ended;
      expect(await readFile(opened, 'utf8').catch(() => 'nothing')).toBe('nothing');
      expect(code).toBe(2);
    },
  );

  test('cannot send people to another server to sign in, whose answer it would then be given', () => {
    const page = (server: string, authorization_endpoint: string) => () =>
      signInPage(server, { authorization_endpoint }).href;
    const friend = 'https://iam.example.com/realms/master/oauth2/authorize';
    expect(page('https://iam.example.com', friend)()).toBe(friend);
    expect(page('https://iam.example.evil.example', friend)).toThrow('sends people to https://iam.example.com');
    expect(page('http://iam.example.com', friend)).toThrow('sends people to https://iam.example.com');
    expect(page('https://iam.example.com', friend.replace('https:', 'http:'))).toThrow('sends people to');
    // a tunnel that a person has made themselves
    expect(page('http://localhost:8080', friend)()).toBe(friend);
  });
});
