// `realmctl events`: the audit log as it goes on; `get events` is a look at it.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, listEvents } from '../../server/contract/events.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { Interrupted } from '../faults.ts';
import { plain } from '../output.ts';
import { events as kind } from '../run-time-kinds.ts';
import { addFilters, type FilterOptions, filterOf } from './get.ts';

interface Options extends FilterOptions {
  realm?: string;
  follow?: true;
  limit: string;
  output: 'text' | 'json';
}
const LOOK_MS = 2_000;
/** Rows are written a moment after the time that they bear. */
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
};

async function events(cli: Cli, options: Options): Promise<void> {
  const realm = await realmOf(cli, { option: options.realm });
  const connection = await cli.connect();
  const scope = { connection, realm, signal: cli.signal };
  const { q: _, ...filter } = await filterOf(scope, undefined, options);
  const ask = async (more: object) =>
    (await connection.client.call(listEvents, { params: { realm }, query: { ...filter, ...more }, signal: cli.signal }))
      .body ?? [];
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
  tell(await ask({ limit: Math.max(1, Number(options.limit) || 20) }));
  if (!options.follow) return;
  latest ||= Date.now() - LATE_MS;
  for (;;) {
    await sleep(LOOK_MS, undefined, { signal: cli.signal }).catch(() => {
      throw new Interrupted();
    });
    tell(await ask({ limit: 1000, from: latest - LATE_MS }));
  }
}

function line(event: Event, output: Options['output']): string {
  if (output === 'json') return JSON.stringify(event);
  return kind.rowOf(event).cells(false).map(plain).join('  ');
}
