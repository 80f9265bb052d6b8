// `realmctl users|sessions`: actions on users and their sessions; `get users` and `edit user` work as for every kind.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { address, type Client } from '../../server/contract/client.ts';
import { endClientSessions, endSession } from '../../server/contract/sessions.ts';
import { deleteLockout, endUserSessions, getLockout, impersonateUser } from '../../server/contract/user-access.ts';
import { importUsers, UsersImported } from '../../server/contract/user-import.ts';
import { setPassword } from '../../server/contract/users.ts';
import { time } from '../cells.ts';
import { addRealm, type Cli, type Connection, examples, type Register, realmOf } from '../command.ts';
import { bytesOf } from '../document-file.ts';
import { Outcome, Refused } from '../faults.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';
import { counted, withProgress } from '../progress.ts';
import { ask, confirm, lines } from '../prompt.ts';
import { users as kind, sessions as sessionsKind } from '../run-time-kinds.ts';
import { addListing, list } from './get.ts';
import { sending } from './import.ts';

interface Options {
  realm?: string;
  yes?: true;
}

async function at(cli: Cli, option: string | undefined): Promise<{ connection: Connection; realm: string }> {
  const realm = await realmOf(cli, { option });
  return { connection: await cli.connect(), realm };
}

/** A user by username or id. */
async function person(cli: Cli, option: string | undefined, word: string) {
  const { connection, realm } = await at(cli, option);
  const found = await kind.find({ connection, realm, signal: cli.signal }, word);
  const params = { realm, userId: String(Reflect.get(found.value, 'id')) };
  return { client: connection.client, name: found.name, params };
}

export const registerUsers: Register = (program, cli) => {
  const users = program.command('users').description('find people, bring them in, help them back in');
  addListing(users.command('search').argument('<text>', 'of the username, the e-mail address or the name'), kind)
    .description('those whose username, e-mail address or name holds a text')
    .action((text: string, options) => list(cli, kind, { ...options, query: text }));
  registerBulk(users, cli);
  registerPassword(users, cli);
  addRealm(users.command('unlock').argument('<user>', 'username or id'))
    .description('forget failed sign-ins, and unlock')
    .action(async (word: string, { realm }: Options) => {
      const { client, name, params } = await person(cli, realm, word);
      const { body: before } = await client.call(getLockout, { params, signal: cli.signal });
      await client.call(deleteLockout, { params, signal: cli.signal });
      writeLine(
        cli.io,
        `${name}: ${before?.locked ? 'unlocked' : 'was not locked'}, ${before?.failures ?? 0} failures forgotten.`,
      );
    });
  addOutput(addRealm(users.command('impersonate').argument('<user>', 'username or id')))
    .description('act as a user in your browser for up to half an hour; the audit log records both names')
    .action(async (word: string, { realm, output }: Options & { output: Format }) => {
      const { client, name, params } = await person(cli, realm, word);
      const { body } = await client.call(impersonateUser, { params, signal: cli.signal });
      if (!body) throw new Refused('the server answered no address');
      print(cli.io, output, { value: body, table: () => body.url });
      const until = time(body.expiresAt);
      writeLine(
        cli.io,
        `Open it within a minute, in a browser: you are ${name} there until ${until}, or until you sign out.`,
      );
    });
  examples(
    users,
    'realmctl users search ana -r acme',
    'realmctl users import -r acme -f people.ndjson',
    'realmctl users reset-password ana -r acme --generate',
    'realmctl users unlock ana -r acme',
    'realmctl users impersonate ana -r acme',
  );
};

interface Bulk extends Options {
  file: string;
  atomic?: boolean;
  output: Format;
}
const SHOWN = 20;
const [NEWLINE, SPACE] = [0x0a, 0x20];

function registerBulk(users: Command, cli: Cli): void {
  const command = addRealm(users.command('import'))
    .description('make or change many people: a JSON array, or a JSON object a line')
    .requiredOption('-f, --file <file>', 'the rows; - is standard input')
    .option('--atomic', 'all or none; otherwise a bad row loses no good one');
  addOutput(command).action(async ({ realm: option, file, atomic = false, output }: Bulk) => {
    const { connection, realm } = await at(cli, option);
    const rows = bytesOf(file, cli.io.stdin);
    const first = await rows.next();
    const start = first.done ? '' : first.value.toString('latin1').trimStart().slice(0, 1);
    const place = start === '[' ? undefined : linesOfRows();
    async function* all() {
      for (let next = first; !next.done; next = await rows.next()) {
        place?.see(next.value);
        yield next.value;
      }
    }
    const answer = sending(counted(cli.io, file, all()), (body) =>
      connection.fetch(address(importUsers.path, { realm }, { atomic }), {
        method: 'POST',
        headers: { 'content-type': start === '[' ? 'application/json' : 'application/x-ndjson' },
        body,
        duplex: 'half',
        signal: cli.signal,
      }),
    );
    const response = await withProgress(cli.io, `Importing people into ${realm}`, answer);
    const done = UsersImported.parse(await response.json());
    const { created, updated, unchanged, failed, failures } = done;
    print(cli.io, output, {
      value: done,
      table: () => ({
        head: ['CREATED', 'UPDATED', 'UNCHANGED', 'FAILED'],
        rows: [[created, updated, unchanged, failed].map(String)],
      }),
    });
    for (const { row, errors } of failures.slice(0, SHOWN))
      writeLine(
        cli.io,
        `${place ? `line ${place.of(row)}` : `person ${row + 1}`}: ${errors.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
      );
    if (failed > SHOWN) writeLine(cli.io, `… and ${failed - SHOWN} more: -o json has the first thousand.`);
    if (failed > 0) throw new Outcome(2);
  });
}

/** Maps a row to its line in the file: the server's row numbers skip empty lines. */
function linesOfRows() {
  const empty: number[] = [];
  let [line, filled] = [1, false];
  return {
    see(bytes: Uint8Array): void {
      for (const byte of bytes) {
        if (byte === NEWLINE) {
          if (!filled) empty.push(line);
          line += 1;
          filled = false;
        } else filled ||= byte > SPACE;
      }
    },
    of: (row: number): number => empty.reduce((at, one) => (one <= at ? at + 1 : at), row + 1),
  };
}

interface Reset extends Options {
  generate?: true;
  passwordStdin?: true;
  permanent?: true;
}

function registerPassword(users: Command, cli: Cli): void {
  addRealm(users.command('reset-password').argument('<user>', 'username or id'))
    .description('give a new password, which has to be changed at the next sign-in; ends all sessions')
    .option('--generate', 'make one, and print it')
    .option('--password-stdin', 'read it from stdin; otherwise it is asked for')
    .option('--permanent', 'it need not be changed')
    .action(async (word: string, { realm, generate, passwordStdin, permanent }: Reset) => {
      if (generate && passwordStdin) throw new Refused('give --generate or --password-stdin, not both');
      const { client, name, params } = await person(cli, realm, word);
      const [piped = ''] = passwordStdin ? await lines(cli) : [];
      if (passwordStdin && piped === '') throw new Refused('stdin holds no password');
      const instead = 'Give --generate, or --password-stdin and the password on stdin.';
      const password = generate
        ? `${randomBytes(18).toString('base64url')}aA1-`
        : piped || (await ask(cli, `New password of ${name}`, { hidden: true, instead }));
      const body = { password, temporary: !permanent };
      await client.call(setPassword, { params, body, signal: cli.signal });
      if (generate) cli.io.stdout.write(`${password}\n`);
      writeLine(
        cli.io,
        `${name} has a new password${permanent ? '' : ', to be changed at the next sign-in'}, and no session any more.`,
      );
    });
}

interface Ending extends Options {
  user?: string;
  client?: string;
}

/** Ends all sessions, however many there are. */
async function endAllOf(client: Client, signal: AbortSignal, { realm, clientId }: { realm: string; clientId: string }) {
  const all = { sessions: 0, offline: 0 };
  for (let more = true; more; ) {
    const { body } = await client.call(endClientSessions, { params: { realm }, query: { clientId }, signal });
    all.sessions += body?.sessions ?? 0;
    all.offline += body?.offline ?? 0;
    more = body?.more ?? false;
  }
  return all;
}

export const registerSessions: Register = (program, cli) => {
  const sessions = program.command('sessions').description('live sign-in sessions');
  addListing(sessions.command('list'), sessionsKind)
    .description('list them, newest first')
    .action((options) => list(cli, sessionsKind, options));
  addRealm(sessions.command('end').argument('[id...]', 'as the list shows them'))
    .option('--user <name>', 'all of this user, with all tokens')
    .option('--client <client>', 'all in which this client got tokens, with its offline ones')
    .option('-y, --yes', 'do not ask')
    .description('end sessions and their tokens')
    .action(async (ids: string[], { realm: option, user, client: clientId, yes }: Ending) => {
      if ([ids[0], user, clientId].filter((one) => one !== undefined).length !== 1)
        throw new Refused('say which: ids of sessions, or --user NAME, or --client CLIENT');
      const whose = ids.length > 0 ? `${ids.length} sessions` : `all sessions of ${user ?? clientId}`;
      if (!yes && !cli.io.terminal) throw new Refused(`this ends ${whose}`, 'Say so with --yes.');
      if (!yes && !(await confirm(cli, `End ${whose}?`))) throw new Refused('nothing was ended');
      if (user !== undefined) {
        const { client, name, params } = await person(cli, option, user);
        await client.call(endUserSessions, { params, signal: cli.signal });
        return writeLine(cli.io, `Ended all sessions of ${name}.`);
      }
      const { connection, realm } = await at(cli, option);
      if (clientId !== undefined) {
        const { sessions: ended, offline } = await endAllOf(connection.client, cli.signal, { realm, clientId });
        return writeLine(cli.io, `Ended ${ended} sessions and ${offline} offline grants of ${clientId}.`);
      }
      for (const id of ids) {
        await connection.client.call(endSession, { params: { realm, id }, signal: cli.signal });
        writeLine(cli.io, `Ended session ${id}.`);
      }
    });
  examples(
    sessions,
    'realmctl sessions list -r acme --user ana --client shop',
    'realmctl sessions end 0197a1c2-… -r acme --yes',
    'realmctl sessions end --user ana -r acme',
    'realmctl sessions end --client shop -r acme',
  );
};
