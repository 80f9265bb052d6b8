// `realmctl events`: follows the audit log; `get events` lists it once.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Event, type EventVerification, listEvents, verifyEvents } from '../../server/contract/events.ts';
import { instant, withTimes } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { Interrupted, Outcome, Refused } from '../faults.ts';
import { newestEvents } from '../newest-events.ts';
import { jsonText, plain, print, writeLine } from '../output.ts';
import { events as kind } from '../run-time-kinds.ts';
import { addFilters, type FilterOptions, filterOf } from './get.ts';

interface Options extends FilterOptions {
  realm?: string;
  follow?: true;
  limit: string;
  output: 'text' | 'json';
}
const LOOK_MS = 2_000;
/** The maximum delay between an event's time and the write of its row. */
const LATE_MS = 10_000;

export const registerEvents: Register = (program, cli) => {
  const command = addFilters(addRealm(program.command('events')))
    .description('the audit log, oldest first; with --follow as it goes on')
    .option('--follow', 'go on, until Ctrl-C')
    .option('--limit <n>', 'how many of the latest come first', '20')
    .option('-o, --output <format>', 'text, or json: an object a line', 'text');
  examples(
    command,
    'realmctl events -r acme --follow',
    'realmctl events -r acme --follow --type LOGIN_FAILURE -o json | jq .ipAddress',
  ).action((options: Options) => events(cli, options));
  examples(
    command
      .command('verify')
      .description('check the chain of hashes over the audit log')
      .option('--noted <block>', 'a block noted before, as number:hash: the chain must have it', noted),
    'realmctl events verify -r acme',
    'realmctl events verify -r acme --noted 412:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ).action((_, own: Command) => verify(cli, own.optsWithGlobals()));
};

type Noted = NonNullable<EventVerification['last']>;

function noted(text: string): Noted {
  const [, number = '', hash = ''] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (hash === '') throw new Refused(`--noted must be number:hash; it is ${text}`);
  return { number: Number(number), hash: hash.toLowerCase() };
}

const PROBLEMS: Record<EventVerification['faults'][number]['problem'], string> = {
  events: 'its events are not those that were sealed',
  link: 'its hash is not that of the block and the one before',
  missing: 'the block before it is gone',
  unsealed: 'it has events that are in no block and do not wait for one',
};

interface VerifyOptions {
  realm?: string;
  noted?: Noted;
  output: 'text' | 'json';
}

async function verify(cli: Cli, options: VerifyOptions): Promise<void> {
  const realm = await realmOf(cli, { option: options.realm });
  const { client } = await cli.connect();
  const ask = async (query: { after: number; limit?: number }) => {
    const { body } = await client.call(verifyEvents, { params: { realm }, query, signal: cli.signal });
    if (!body) throw new Refused('the server sent an empty answer');
    return body;
  };
  const sum = { realm, blocks: 0, events: 0, forgotten: 0, erased: 0 };
  const faults: EventVerification['faults'] = [];
  let last: EventVerification['last'] = null;
  let folded: EventVerification['folded'] = null;
  let waiting = 0;
  for (let after: number | null = 0; after !== null; ) {
    const part: EventVerification = await ask({ after });
    for (const key of ['blocks', 'events', 'forgotten', 'erased'] as const) sum[key] += part[key];
    faults.push(...part.faults);
    last = part.last ?? last;
    folded = part.folded ?? folded;
    waiting = part.waiting ?? waiting;
    after = part.next;
  }
  const was = options.noted;
  const gone = was !== undefined && folded !== null && was.number < folded.number;
  const is = was && (was.number === folded?.number ? folded : (await ask({ after: was.number - 1, limit: 1 })).last);
  const changed = was && !gone && (is?.number !== was.number || is.hash !== was.hash);
  const place = last ? `${last.number}:${last.hash}` : '';
  print(cli.io, options.output === 'json' ? 'json' : 'table', {
    value: { ...sum, waiting, folded, last, faults },
    table: () => ({
      head: ['REALM', 'BLOCKS', 'EVENTS', 'DELETED BY AGE', 'BLOCKS WITH ERASURES', 'NOT SEALED YET', 'LAST BLOCK'],
      rows: [[realm, ...[sum.blocks, sum.events, sum.forgotten, sum.erased, waiting].map(String), place]],
    }),
  });
  for (const { block, problem } of faults)
    writeLine(cli.io, `${block === null ? 'The log' : `Block ${block}`}: ${PROBLEMS[problem]}.`);
  if (changed) writeLine(cli.io, `Block ${was.number} is not the one that was noted.`);
  if (gone) writeLine(cli.io, `Block ${was.number} is gone, since age deleted what it held: note a later one.`);
  if (faults.length === 0 && !changed) return;
  writeLine(cli.io, 'The audit log was changed after it was sealed.');
  throw new Outcome(1);
}

async function events(cli: Cli, options: Options): Promise<void> {
  const realm = await realmOf(cli, { option: options.realm });
  const connection = await cli.connect();
  const scope = { connection, realm, signal: cli.signal };
  const { q: _, ...filter } = await filterOf(scope, undefined, options);
  const { signal } = cli;
  const ask = (more: object) =>
    connection.client.call(listEvents, { params: { realm }, query: { ...filter, ...more }, signal });
  const seen = new Set<string>();
  let latest = 0;
  const tell = (found: readonly Event[]) => {
    for (const event of [...found].reverse()) {
      if (seen.has(event.id)) continue;
      seen.add(event.id);
      latest = Math.max(latest, event.occurredAt);
      cli.io.stdout.write(`${line(event, options.output)}\n`);
    }
  };
  tell(await newestEvents(scope, filter, { limit: Math.max(1, Number(options.limit) || 20) }));
  if (!options.follow) return;
  latest ||= Date.now() - LATE_MS;
  for (;;) {
    await sleep(LOOK_MS, undefined, { signal: cli.signal }).catch(() => {
      throw new Interrupted();
    });
    tell((await ask({ limit: 1000, from: latest - LATE_MS })).body ?? []);
  }
}

function line(event: Event, output: Options['output']): string {
  if (output === 'json') return jsonText(withTimes(event, instant));
  return kind.rowOf(event).cells(false).map(plain).join('  ').trimEnd();
}
