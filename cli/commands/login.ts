// `realmctl login SERVER`: by the browser, by username and password, or as a client; and `logout`.
import path from 'node:path';
import type { Command } from 'commander';
import { ADMIN_CLI, adminLogin, adminLogout, getAdminSession } from '../../server/contract/admin-access.ts';
import { createClient, ServerProblem, unreachable } from '../../server/contract/client.ts';
import { MASTER } from '../../server/contract/realms.ts';
import { browserSignIn } from '../browser-sign-in.ts';
import { type Cli, examples, realmName } from '../command.ts';
import { chosenContext, connection, type Fetch, serverAddress } from '../connect.ts';
import type { Context, ContextFile, Session } from '../contexts.ts';
import { Refused } from '../faults.ts';
import { atGivenServer, discover, isLoopback } from '../oauth.ts';
import { writeLine } from '../output.ts';
import { ask, lines } from '../prompt.ts';
import { accessOf, clientSecret, personSession } from '../sessions.ts';

interface Options {
  realm: string;
  name?: string;
  username?: string;
  passwordStdin?: true;
  clientId?: string;
  clientSecretFile?: string;
  /** Undefined: open a browser if there is a terminal. */
  browser?: boolean;
  again?: true;
}
interface Deps {
  file: ContextFile;
  fetch: Fetch;
  context: () => string | undefined;
}

export function registerLogin(program: Command, cli: Cli, deps: Deps): void {
  const login = program
    .command('login <server>')
    .description('sign in at a server, and use it from now on')
    .option(
      '-r, --realm <realm>',
      'the realm that you, or the client, belong to; another than master is then what commands are about',
      realmName,
      MASTER,
    )
    .option('--name <name>', 'what the context is called (default: the server’s host)')
    .option('--browser', 'open the browser although this is not a terminal')
    .option('--no-browser', 'print the address of the sign-in page instead of opening it')
    .option('--again', 'ask for the password even where the browser has a session')
    .option('--username <name>', 'sign in with a password, which is asked for')
    .option('--password-stdin', 'read the password, and on a second line a one-time code, from stdin')
    .option('--client-id <id>', 'sign in as a client that has admin roles')
    .option('--client-secret-file <file>', 'its secret; without it REALMCTL_CLIENT_SECRET');
  examples(
    login,
    'realmctl login https://iam.example.com',
    'realmctl login https://iam.example.com --username admin',
    'realmctl login https://iam.example.com --username admin --password-stdin < password.txt',
    'realmctl login https://iam.example.com --client-id ci --client-secret-file /run/secrets/ci',
    '',
    'A pipeline needs no login: set REALMCTL_SERVER, REALMCTL_CLIENT_ID and REALMCTL_CLIENT_SECRET.',
  ).action((server: string, options: Options) => signIn(cli, deps, serverAddress(server), options));
  examples(
    program.command('logout').description('end the session, at the server and here'),
    'realmctl logout',
    'realmctl logout --context staging',
  ).action(() => signOut(cli, deps));
}

async function signIn(cli: Cli, deps: Deps, server: string, options: Options): Promise<void> {
  const { realm } = options;
  warnOfPlainHttp(cli, server);
  const session = await sessionBy(cli, deps, server, options);
  const name = options.name ?? `${new URL(server).host}${realm === MASTER ? '' : `/${realm}`}`;
  const kept = (await deps.file.read()).contexts[name];
  const own = realm === MASTER ? (kept?.server === server ? kept.defaultRealm : undefined) : realm;
  const context: Context = { server, realm, session, ...(own !== undefined && { defaultRealm: own }) };
  // The file doesn't contain this session yet, so no renewal is written there.
  const { client } = connection(server, accessOf(name, context, { ...deps, env: cli.io.env }));
  const { body } = await client.call(getAdminSession, { signal: cli.signal }).catch((error) => {
    if (!(error instanceof ServerProblem && (error.status === 401 || error.cause instanceof Refused))) throw error;
    // a client signs in with this very request: its error is reported unchanged
    if (session.type === 'client' && error.cause instanceof Refused) throw error;
    throw new Refused(
      `the sign-in worked, but the admin API of ${server} does not take it`,
      `Do you hold an admin role in the realm ${realm}? With a second factor set up since, sign in with --again.`,
    );
  });
  const who = body?.name ?? '';
  await deps.file.update(async ({ contexts }) => ({
    current: name,
    contexts: { ...contexts, [name]: { ...context, name: who } },
  }));
  writeLine(cli.io, `Signed in at ${server} as ${who} (context ${name}).`);
}

async function sessionBy(cli: Cli, deps: Deps, server: string, options: Options): Promise<Session> {
  const { clientId, clientSecretFile, username, passwordStdin, realm } = options;
  if (clientId !== undefined) {
    if (username !== undefined) throw new Refused('give --client-id or --username, not both');
    // read the secret now, so that the sign-in reports a missing or wrong file
    await clientSecret(clientSecretFile, cli.io.env);
    return { type: 'client', clientId, ...(clientSecretFile && { secretFile: path.resolve(clientSecretFile) }) };
  }
  if (clientSecretFile !== undefined) throw new Refused('--client-secret-file needs --client-id');
  if (username !== undefined || passwordStdin) return byPassword(cli, deps.fetch, server, options);
  if (options.browser === undefined && !cli.io.terminal)
    throw new Refused(
      'this is not a terminal, so you can’t be asked to sign in',
      'Give --client-id, or --username with --password-stdin, or --no-browser to sign in at an address that is printed.',
    );
  const how = { server, realm, open: options.browser !== false, again: options.again === true, fetch: deps.fetch };
  return personSession(await browserSignIn(cli, how));
}

async function byPassword(cli: Cli, fetch: Fetch, server: string, options: Options): Promise<Session> {
  const { passwordStdin, realm } = options;
  const username = options.username ?? (await ask(cli, 'Username', { instead: 'Give --username.' }));
  const [piped, code] = passwordStdin ? await lines(cli) : [];
  if (passwordStdin && !piped) throw new Refused('stdin holds no password');
  const instead = 'Give --password-stdin, and the password on stdin.';
  const password = piped ?? (await ask(cli, `Password of ${username}`, { hidden: true, instead }));
  let cookie: string | undefined;
  const keep: Fetch = async (input, init) => {
    const response = await fetch(input, init);
    for (const line of response.headers.getSetCookie()) cookie = /^SVC_ADMIN_SESSION=([^;]+)/.exec(line)?.[1] ?? cookie;
    return response;
  };
  const client = createClient({ baseUrl: server, fetch: keep, authorize: async () => '' });
  const login = async (otp?: string) => {
    await client.call(adminLogin, { body: { username, password, realm, ...(otp && { otp }) }, signal: cli.signal });
  };
  try {
    await login(code || undefined);
  } catch (error) {
    const asks = error instanceof ServerProblem && error.is('otp-required');
    if (!asks || !cli.io.terminal || passwordStdin) throw notAccepted(error, server, options);
    const otp = (await ask(cli, 'One-time code', { hidden: true, instead })).trim();
    await login(otp).catch((wrong) => {
      throw notAccepted(wrong, server, options);
    });
  }
  if (cookie === undefined) throw new Refused(`${server} gave no session`);
  return { type: 'cookie', cookie };
}

/**
 * Adds a hint to a refusal. The server's refusals reveal little on purpose; if one has no detail, the hint lists what
 * to check.
 */
function notAccepted(error: unknown, server: string, { realm, passwordStdin }: Options): unknown {
  if (!(error instanceof ServerProblem && error.status === 401)) return error;
  if (error.is('otp-required'))
    return new Refused(
      'a one-time code is needed',
      passwordStdin ? 'Give it on the second line of stdin.' : 'Sign in from a terminal, or give --password-stdin.',
    );
  const look = `Check the username, the password, the one-time code if you have one, and the realm (${realm}; --realm names another).`;
  const more = 'The account must hold admin roles, and too many failures lock it for a while.';
  return new Refused(`${server} did not accept the sign-in`, error.problem?.detail ?? `${look}\n${more}`);
}

async function signOut({ io, signal }: Cli, { file, fetch, context }: Deps): Promise<void> {
  const [name, found] = chosenContext(await file.read(), io.env, context());
  const { server, realm, session } = found;
  try {
    if (session?.type === 'cookie')
      await connection(server, accessOf(name, found, { file, fetch, env: io.env })).client.call(adminLogout, {
        signal,
      });
    if (session?.type === 'person') await revoke(server, realm, session.refreshToken, fetch, signal);
  } catch (error) {
    // the session has ended already, as the user wanted
    if (!(error instanceof ServerProblem) || (error.status === 0 && !(error.cause instanceof Refused))) {
      await forget(file, name);
      writeLine(io, 'The session is forgotten here, but the server was not told: there it ends by itself.');
      throw error;
    }
  }
  await forget(file, name);
  writeLine(io, `Signed out at ${server}.`);
}

const forget = (file: ContextFile, name: string) =>
  file.update(async (stored) => {
    const found = stored.contexts[name];
    if (!found) return undefined;
    const { session: _, ...rest } = found;
    return { ...stored, contexts: { ...stored.contexts, [name]: rest } };
  });

async function revoke(server: string, realm: string, token: string, fetch: Fetch, signal: AbortSignal): Promise<void> {
  const { revocation_endpoint: endpoint } = await discover(server, realm, fetch);
  if (!endpoint) return;
  const body = new URLSearchParams({ client_id: ADMIN_CLI, token, token_type_hint: 'refresh_token' });
  await fetch(atGivenServer(server, endpoint), { method: 'POST', body, signal }).catch((cause) => {
    throw unreachable(server, cause);
  });
}

function warnOfPlainHttp({ io }: Cli, server: string): void {
  if (new URL(server).protocol === 'http:' && !isLoopback(server))
    writeLine(io, `Warning: ${server} is not https; others on the network can read the session.`);
}
