// Owns: the credentials that a stored session adds to a request, and renewing the session before it expires.
// Does not own: storing sessions (contexts.ts), the token endpoint (oauth.ts).
// Implements: decisions "Admin authentication": cookie with CSRF header, bearer.
import { readFile } from 'node:fs/promises';
import { ADMIN_CLI } from '../server/contract/admin-access.ts';
import { refusal } from '../server/contract/client.ts';
import { MASTER } from '../server/contract/realms.ts';
import type { Environment } from './command.ts';
import type { Authorize, Fetch } from './connect.ts';
import type { Context, ContextFile, Session } from './contexts.ts';
import { Refused } from './faults.ts';
import { clientCredentials, discover, OAuthRefused, requestTokens, type Tokens } from './oauth.ts';
import { utf8Text } from './text.ts';

const EARLY_MS = 20_000;

/** `fetch` and `authorize` for contract/client.ts. */
export interface Access {
  fetch: Fetch;
  authorize: Authorize;
}

export const personSession = ({ access_token, expires_in, refresh_token }: Tokens): Session => ({
  type: 'person',
  accessToken: access_token,
  refreshToken: refresh_token ?? '',
  expiresAt: Date.now() + expires_in * 1000,
});

const expired = ({ server }: Context): Refused =>
  new Refused(`the session at ${server} has ended`, `Sign in again: realmctl login ${server}`);

/** Advises to sign in again: a password sign-in then asks for the code, or names the page where the user sets one up. */
const lacking = ({ server, realm, name = 'NAME' }: Context): Refused =>
  new Refused(
    'a second factor is asked for now, which this session has not proven',
    `Sign in again: realmctl login ${server}${realm === MASTER ? '' : ` --realm ${realm}`} --username ${name}`,
  );

export function accessOf(
  name: string,
  context: Context,
  { file, fetch, env }: { file: ContextFile; fetch: Fetch; env: Environment },
): Access {
  const { server, realm, session } = context;
  if (!session) throw new Refused(`nobody is signed in at ${server}`, `Sign in with: realmctl login ${server}`);
  if (session.type === 'cookie') return byCookie(context, session.cookie, fetch);
  if (session.type === 'person') return { fetch, authorize: byTokens(name, context, session, { file, fetch }) };
  const { clientId, secretFile } = session;
  let authorize: Authorize | undefined;
  return {
    fetch,
    async authorize(options) {
      authorize ??= clientCredentials({ server, realm, clientId, secret: await clientSecret(secretFile, env), fetch });
      return authorize(options);
    },
  };
}

/** The secret from the file, else from the environment; never from an argument, which other users could see. */
export async function clientSecret(file: string | undefined, env: Environment): Promise<string> {
  if (file === undefined) {
    if (env.REALMCTL_CLIENT_SECRET) return env.REALMCTL_CLIENT_SECRET;
    throw new Refused('the client’s secret is missing', 'Set REALMCTL_CLIENT_SECRET, or give --client-secret-file.');
  }
  const bytes = await readFile(file).catch((error: Error) => {
    throw new Refused(`the client’s secret can’t be read: ${error.message}`);
  });
  const secret = utf8Text(bytes, file).replace(/\r?\n$/, '');
  if (secret === '') throw new Refused(`${file} is empty`);
  return secret;
}

/** Writes must send the session's CSRF token, which any read returns. */
function byCookie(context: Context, cookie: string, fetch: Fetch): Access {
  const session = `SVC_ADMIN_SESSION=${cookie}`;
  let csrf: Promise<string> | undefined;
  async function csrfToken(): Promise<string> {
    const { headers } = await fetch(`${context.server}/admin/session`, { headers: { cookie: session } });
    return headers.getSetCookie().flatMap((line) => /^XSRF-TOKEN=([^;]+)/.exec(line)?.[1] ?? [])[0] ?? '';
  }
  return {
    async authorize({ renew }) {
      if (renew) throw expired(context);
      return '';
    },
    async fetch(input, init) {
      const headers = new Headers(init?.headers);
      headers.delete('authorization');
      headers.set('cookie', session);
      if ((init?.method ?? 'GET') !== 'GET') {
        csrf ??= csrfToken();
        const token = await csrf;
        headers.set('cookie', `${session}; XSRF-TOKEN=${token}`);
        headers.set('x-xsrf-token', token);
      }
      const response = await fetch(input, { ...init, headers });
      if (response.status === 401 && (await refusal(response.clone())).is('step-up-required')) throw lacking(context);
      return response;
    },
  };
}

/**
 * Refresh tokens work once, and one that is used again ends the session. So one process renews at a time, and reads
 * from the file the tokens that another one got meanwhile.
 */
function byTokens(
  name: string,
  context: Context,
  first: Extract<Session, { type: 'person' }>,
  { file, fetch }: { file: ContextFile; fetch: Fetch },
): Authorize {
  let mine = first;
  let pending: Promise<void> | undefined;
  const { server, realm } = context;

  const renewal = () =>
    file.update(async (contexts) => {
      const stored = contexts.contexts[name];
      if (stored?.server !== server || stored.session?.type !== 'person') throw expired(context);
      const { session } = stored;
      const renewedElsewhere = session.accessToken !== mine.accessToken && session.expiresAt - EARLY_MS > Date.now();
      if (renewedElsewhere) {
        mine = session;
        return undefined;
      }
      const tokens = await refreshed(session.refreshToken);
      mine = {
        ...session,
        ...personSession(tokens),
        type: 'person',
        refreshToken: tokens.refresh_token ?? session.refreshToken,
      };
      return { ...contexts, contexts: { ...contexts.contexts, [name]: { ...stored, session: mine } } };
    });

  async function refreshed(refreshToken: string): Promise<Tokens> {
    const body = { grant_type: 'refresh_token', client_id: ADMIN_CLI, refresh_token: refreshToken };
    try {
      return await requestTokens(server, await discover(server, realm, fetch), body, { fetch });
    } catch (error) {
      if (error instanceof OAuthRefused) throw expired(context);
      throw error;
    }
  }

  return async ({ renew }) => {
    if (renew || mine.expiresAt - EARLY_MS <= Date.now()) {
      pending ??= renewal().finally(() => {
        pending = undefined;
      });
      await pending;
    }
    return `Bearer ${mine.accessToken}`;
  };
}
