// `realmctl get KIND [NAME]`: lists and single objects, as tables for users and as data for programs.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { ManagedBy } from '../../server/contract/managed-by.ts';
import { Message } from '../../server/contract/messages.ts';
import { Delivery } from '../../server/contract/webhooks.ts';
import { list as words } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { durationIn } from '../durations.ts';
import { Interrupted, Refused } from '../faults.ts';
import { kinds } from '../kind-table.ts';
import type { Filter, Kind, Row, Scope } from '../kinds.ts';
import { type Format, formats, formattedView, outputOption, plain, print, type View, writeLine } from '../output.ts';
import { users } from '../run-time-kinds.ts';

export interface FilterOptions {
  status?: string;
  /** Users: only those that failed sign-ins have locked. */
  locked?: true;
  user?: string;
  type?: string;
  client?: string;
  outcome?: string;
  by?: string;
  on?: string;
  from?: string;
  since?: number;
  until?: number;
}
export interface Options extends FilterOptions {
  realm?: string;
  query?: string;
  limit?: number;
  watch?: true;
  managers?: true;
  output: Format | 'wide';
}
const LOOK_MS = 2_000;
const MANY = 100;

export const registerGet: Register = (program, cli) => {
  const get = program.command('get').description('list what is in a realm, or show one of it by name');
  for (const kind of kinds) register(get, kind, cli);
  examples(
    get,
    'realmctl get realms',
    'realmctl get clients -r acme -q billing -o wide',
    'realmctl get clients -r acme --managers',
    'realmctl get user ana@example.com -r acme -o yaml',
    'realmctl get users -r acme --locked',
    'realmctl get deliveries audit -r acme --limit 0 -o json',
    'realmctl get deliveries -r acme --status dead',
    'realmctl get events -r acme --type LOGIN_FAILURE --since 24h',
    "realmctl get clients -r acme -o jsonpath='{[*].clientId}'",
    'realmctl get sessions -r acme --watch',
    'realmctl get realms -o name | xargs -n1 realmctl rotate-keys --yes',
  );
};

const statesOf: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['deliveries', Delivery.shape.status.options],
  ['messages', Message.shape.status.options],
]);

/** Adds the options of commands that list a kind. */
export function addListing(command: Command, kind: Kind): Command {
  if (kind.inRealm) addRealm(command);
  command
    .option('-q, --query <text>', 'only those that match')
    .option('--limit <n>', `at most so many; 0: all (default: ${kind.many ? MANY : 'all'})`, count)
    .option('-w, --watch', 'go on, and show what comes and changes, until Ctrl-C')
    .addOption(outputOption([...formats, 'wide']).default('table'));
  if (kind.managed)
    command.option('--managers', 'also the manager of each; in json and yaml with the fields that it declares');
  if (kind.plural === 'sessions')
    command.option('--user <name>', 'only those of this user').option('--client <client>', 'only those of this client');
  if (kind.plural === 'users') command.option('--locked', 'only those that failed sign-ins have locked');
  const states = statesOf.get(kind.plural);
  if (states) command.addOption(new Option('--status <status>', 'only these; dead: given up').choices(states));
  return kind.plural === 'events' ? addFilters(command) : command;
}

/** Which events. */
export const addFilters = (command: Command): Command =>
  command
    .option('--user <name>', 'only those of this user')
    .option(
      '--type <types>',
      'only these types, separated by commas; ADMIN_WRITE is every administrative change, ADMIN_LOGIN_FAILURE an administrator’s failed sign-in',
    )
    .option('--client <client>', 'only those of this client')
    .addOption(new Option('--outcome <outcome>', 'only these').choices(['success', 'failure', 'denied']))
    .option('--by <who>', 'only what this one did: the id or name of a user, client, agent or manager')
    .option('--on <what>', 'only what was done to this one, by its id or name')
    .option('--from <address>', 'only from this address')
    .option('--since <time>', 'only later ones: 90s, 15m, 24h, 7d, or a date', timeOf('--since'))
    .option('--until <time>', 'only earlier ones, said in the same way', timeOf('--until'));

function register(get: Command, kind: Kind, cli: Cli): void {
  const command = get.command(kind.plural).alias(kind.singular).description(kind.help);
  if (kind.of !== undefined)
    command.argument(kind.ofAny ? `[${kind.of}]` : `<${kind.of}>`, `the ${kind.of} that they belong to`);
  else command.argument('[name]', `only this ${kind.singular}`);
  addListing(command, kind);
  command.action(async (word: string | undefined, options: Options) => {
    if (kind.of === undefined && word !== undefined)
      await showOne(cli, kindOf(kind, options), await scopeOf(cli, kind, options), word, options);
    else await list(cli, kind, options, word);
  });
}

async function scopeOf(cli: Cli, kind: Kind, { realm: option }: Options): Promise<Scope> {
  const realm = kind.inRealm ? await realmOf(cli, { option }) : '';
  return { connection: await cli.connect(), realm, signal: cli.signal };
}

/** @param of the parent object */
export async function list(cli: Cli, kind: Kind, options: Options, of?: string): Promise<void> {
  const scope = { ...(await scopeOf(cli, kind, options)), of };
  const shownKind = kindOf(kind, options);
  const shown = await show(cli, shownKind, scope, options);
  if (options.watch) await watch(cli, shownKind, scope, options, shown);
}

/** The kind, with the managers of its objects as a column if the options ask for them. */
function kindOf(kind: Kind, { managers }: Options): Kind {
  if (!managers) return kind;
  const asked = { with: 'managedBy' };
  const managed = <T extends Row>(row: T): T => ({
    ...row,
    cells: (wide: boolean) => [...row.cells(wide), words(managersIn(row.value).map(({ manager }) => manager))],
  });
  return {
    ...kind,
    heads: (wide) => [...kind.heads(wide), 'MANAGED BY'],
    async *rows(scope, filter, most) {
      for await (const row of kind.rows(scope, { ...filter, ...asked }, most)) yield managed(row);
    },
    find: async (scope, word) => managed(await kind.find(scope, word, asked)),
  };
}

const managersIn = (value: object): ManagedBy => ManagedBy.catch([]).parse(Reflect.get(value, 'managedBy'));

/** Prints new and changed objects, one row each. */
async function watch(cli: Cli, kind: Kind, scope: Scope, options: Options, first: readonly Row[]): Promise<void> {
  const wide = options.output === 'wide';
  const lineOf = (row: Row) => row.cells(wide).map(plain).join('   ').trimEnd();
  let before = new Map(first.map((row) => [row.name, lineOf(row)]));
  for (;;) {
    await sleep(LOOK_MS, undefined, { signal: cli.signal }).catch(() => {
      throw new Interrupted();
    });
    const now = new Map<string, string>();
    for await (const row of kind.rows(scope, await filterOf(scope, options.query, options), options.limit ?? 0)) {
      const line = lineOf(row);
      now.set(row.name, line);
      if (before.get(row.name) === line) continue;
      const asked =
        options.output === 'table' || wide
          ? line
          : formattedView(cli.io, options.output === 'wide' ? 'table' : options.output, viewOf(kind, [row], wide));
      cli.io.stdout.write(`${asked}\n`);
    }
    for (const name of before.keys()) if (!now.has(name)) writeLine(cli.io, `${name} is gone.`);
    before = now;
  }
}

const viewOf = (kind: Kind, rows: readonly Row[], wide: boolean): View => ({
  value: rows.map(({ value }) => value),
  names: () => rows.map(({ name }) => name),
  table: () => ({ head: kind.heads(wide), rows: rows.map((row) => row.cells(wide)) }),
});

async function showOne(cli: Cli, kind: Kind, scope: Scope, word: string, { output }: Options): Promise<void> {
  const found = await kind.find(scope, word);
  const wide = output === 'wide';
  print(cli.io, output === 'wide' ? 'table' : output, {
    value: found.value,
    names: () => [found.name],
    table: () => ({ head: kind.heads(wide), rows: [found.cells(wide)] }),
  });
}

async function show(cli: Cli, kind: Kind, scope: Scope, options: Options): Promise<Row[]> {
  const { output, query, limit = kind.many ? MANY : 0 } = options;
  const rows: Row[] = [];
  let more = false;
  for await (const row of kind.rows(scope, await filterOf(scope, query, options), limit)) {
    more = limit > 0 && rows.length === limit;
    if (more) break;
    rows.push(row);
  }
  const wide = output === 'wide';
  const where = kind.inRealm ? ` in ${scope.realm}` : '';
  if (rows.length === 0 && (output === 'table' || wide))
    writeLine(cli.io, `No ${kind.plural}${query === undefined ? '' : ` that match ${query}`}${where}.`);
  else print(cli.io, output === 'wide' ? 'table' : output, viewOf(kind, rows, wide));
  if (more) writeLine(cli.io, `There are more ${kind.plural}: --limit 0 shows all.`);
  return rows;
}

export async function filterOf(scope: Scope, q: string | undefined, options: FilterOptions): Promise<Filter> {
  const { user, type, client, outcome, by: actor, on: subject, from: ipAddress, since: from, until: to } = options;
  const userId = user === undefined ? undefined : Reflect.get((await users.find(scope, user)).value, 'id');
  const { locked, status } = options;
  return { q, locked, status, userId, type, clientId: client, outcome, actor, subject, ipAddress, from, to };
}

function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Refused(`--limit must be a number; it is ${text}`);
  return Number(text);
}

/** Epoch milliseconds. */
export const timeOf =
  (option: string) =>
  (text: string): number => {
    const ago = durationIn(text);
    const at = ago === undefined ? Date.parse(text) : Date.now() - ago;
    if (Number.isNaN(at)) throw new Refused(`${option} must be a time such as 24h or 2026-01-31; it is ${text}`);
    return at;
  };
