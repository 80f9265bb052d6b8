// Owns: the code flow of a user at this computer: the loopback address, the browser, the final page.
// Does not own: the token endpoint (oauth.ts), storing tokens (contexts.ts).
// Implements: RFC 8252 (loopback), RFC 7636 (PKCE), RFC 9207 (iss); decisions "Admin authentication".
import { spawn } from 'node:child_process';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { ADMIN_CLI } from '../server/contract/admin-access.ts';
import type { Cli, Environment } from './command.ts';
import type { Fetch } from './connect.ts';
import { Refused } from './faults.ts';
import { adminResource, type Discovered, discover, requestTokens, signInPage, type Tokens } from './oauth.ts';
import { writeLine } from './output.ts';

const WAIT_MS = 300_000;
const PATH = '/callback';

export async function browserSignIn(
  { io, signal }: Pick<Cli, 'io' | 'signal'>,
  {
    server,
    realm,
    open,
    again,
    fetch,
  }: {
    server: string;
    realm: string;
    /** Whether to open a browser, rather than only print the address. */
    open: boolean;
    /** Whether the user must enter the password even if the browser still has a session. */
    again: boolean;
    fetch: Fetch;
  },
): Promise<Tokens> {
  const discovered = await discover(server, realm, fetch);
  const url = signInPage(server, discovered);
  const [state, verifier] = [random(), random()];
  const listener = createServer();
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', resolve);
  });
  try {
    const address = listener.address();
    if (address === null || typeof address === 'string') throw new Error('no loopback port');
    const redirectUri = `http://127.0.0.1:${address.port}${PATH}`;
    const query = {
      client_id: ADMIN_CLI,
      response_type: 'code',
      redirect_uri: redirectUri,
      resource: adminResource(discovered),
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...(again && { prompt: 'login' }),
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    writeLine(io, `Sign in with your browser${open ? '; if it does not open, go to' : ' at'}:\n\n  ${url}\n`);
    if (open) openBrowser(url.href, io.env);
    const code = await answer(listener, { state, discovered, signal });
    return await requestTokens(
      server,
      discovered,
      {
        grant_type: 'authorization_code',
        client_id: ADMIN_CLI,
        redirect_uri: redirectUri,
        code,
        code_verifier: verifier,
      },
      { fetch },
    );
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

const random = () => randomBytes(32).toString('base64url');

/**
 * Waits for the first request with this sign-in's state, which contains a code or an error. Other requests are ignored.
 */
function answer(
  listener: ReturnType<typeof createServer>,
  { state, discovered, signal }: { state: string; discovered: Discovered; signal: AbortSignal },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Refused('nobody signed in within five minutes', 'Start again when you are ready.')),
      WAIT_MS,
    );
    const end = (error: unknown) => {
      clearTimeout(timer);
      reject(error);
    };
    signal.addEventListener('abort', () => end(signal.reason), { once: true });
    listener.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      const given = (name: string) => url.searchParams.get(name) ?? '';
      if (url.pathname !== PATH || request.method !== 'GET' || !same(given('state'), state))
        return page(response, 404, 'Not found', 'This address is for one sign-in alone.');
      clearTimeout(timer);
      const error = given('error');
      if (given('iss') !== discovered.issuer) {
        page(response, 400, 'Not signed in', 'The answer does not come from the server that was asked.');
        return end(
          new Refused(
            `the answer is not from ${discovered.issuer}`,
            'Another sign-in may have been mixed up with this one.',
          ),
        );
      }
      if (error !== '') {
        page(response, 200, 'Not signed in', 'You can close this window and go back to the terminal.');
        const description = given('error_description');
        return end(new Refused(`the sign-in was refused: ${error}${description ? ` (${description})` : ''}`));
      }
      page(response, 200, 'You are signed in', 'You can close this window and go back to the terminal.');
      // the page is sent before the listener closes
      response.once('close', () => resolve(given('code')));
    });
  });
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The page contains no text from the request, and sends no referrer, which would reveal the code. */
function page(response: ServerResponse, status: number, heading: string, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${heading}</title>
<style>
:root { color-scheme: light dark; --page: #eef1f6; --card: #fff; --text: #171b22; --soft: #566072; --bar: #2f5bd7 }
@media (prefers-color-scheme: dark) { :root { --page: #101319; --card: #1b1f27; --text: #eceff4; --soft: #a9b2c1; --bar: #8fb0ff } }
* { box-sizing: border-box }
body { margin: 0; padding: 1rem; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 26rem; padding: 2.25rem; background: var(--card); border-radius: 14px; box-shadow: 0 1px 2px #1b253714, 0 12px 32px #1b25371f }
.name { margin: 0 0 1.5rem; padding-left: .75rem; border-left: 4px solid var(--bar); font-weight: 650 }
h1 { font-size: 1.625rem; line-height: 1.25; margin: 0 0 .5rem }
main p:last-child { margin: 0; color: var(--soft) }
</style>
<main><p class="name">realmctl</p><h1>${heading}</h1><p>${text}</p></main></html>
`);
}

/** Tries to open a browser; without one, the user opens the printed address. */
function openBrowser(url: string, env: Environment): void {
  const [command = '', ...args] = browserOf(env);
  try {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
  } catch {
    // no such program
  }
}

function browserOf(env: Environment): string[] {
  if (env.BROWSER) return [env.BROWSER];
  if (process.platform === 'darwin') return ['open'];
  return process.platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}
