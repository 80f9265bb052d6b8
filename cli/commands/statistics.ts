// `realmctl statistics`: what happened in a realm by the hour or the day, its busiest clients, and how much it has.
import { type Command, Option } from 'commander';
import {
  getClientStatistics,
  getCounts,
  getStatistics,
  type KeyedSeries,
  type Step,
  steps,
} from '../../server/contract/statistics.ts';
import { time } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, print } from '../output.ts';
import { timeOf } from './get.ts';

interface Options {
  realm?: string;
  output: Format;
  step?: Step;
  since?: number;
  until?: number;
  limit: string;
}

const addSpan = (command: Command): Command =>
  command
    .addOption(new Option('--step <step>', 'hour or day (default: hour)').choices(steps))
    .option('--since <time>', 'from then on: 12h, 30d, or a date (default: 24 hours, or 30 days)', timeOf('--since'))
    .option('--until <time>', 'until then (default: now)', timeOf('--until'));

export const registerStatistics: Register = (program, cli) => {
  const command = addSpan(addOutput(addRealm(program.command('statistics')))).description(
    'sign-ins, failures, tokens and webhook deliveries of a realm, by the hour or the day',
  );
  examples(
    command,
    'realmctl statistics -r acme',
    'realmctl statistics -r acme --step day --since 90d',
    'realmctl statistics -r acme -o jsonpath={.failures.by[*].key}',
  ).action((options: Options) => series(cli, options));
  examples(
    addSpan(command.command('clients'))
      .description('the clients that got the most tokens')
      .option('--limit <n>', 'at most so many', '10'),
    'realmctl statistics clients -r acme --step day --since 30d',
  ).action((_, own: Command) => clients(cli, own.optsWithGlobals()));
  examples(
    command.command('counts').description('how many users, groups, roles, clients and further things a realm has'),
    'realmctl statistics counts -r acme',
  ).action((_, own: Command) => counts(cli, own.optsWithGlobals()));
};

const spanOf = ({ step, since: from, until: to }: Options) => ({ step, from, to });
const countOf = (value: number | undefined): string => String(value ?? 0);
const byKey = ({ by }: KeyedSeries, key: string) => by.find((one) => one.key === key);
const added = (...parts: (number | undefined)[]) => parts.reduce((sum: number, part) => sum + (part ?? 0), 0);

async function series(cli: Cli, options: Options): Promise<void> {
  const realm = await realmOf(cli, { option: options.realm });
  const { client } = await cli.connect();
  const { body } = await client.call(getStatistics, { params: { realm }, query: spanOf(options), signal: cli.signal });
  if (!body) throw new Refused('the server sent an empty answer');
  const { signIns, failures, tokens, risks, deliveries } = body;
  const [high, arrived, retried, dead] = [
    byKey(risks, 'high'),
    ...['succeeded', 'retrying', 'dead'].map((key) => byKey(deliveries, key)),
  ];
  const columns = [
    signIns,
    failures,
    tokens,
    high,
    arrived,
    {
      values: body.times.map((_, i) => added(retried?.values[i], dead?.values[i])),
      total: added(retried?.total, dead?.total),
    },
  ];
  print(cli.io, options.output, {
    value: body,
    table: () => ({
      head: ['TIME', 'SIGN-INS', 'FAILURES', 'TOKENS', 'HIGH RISK', 'DELIVERED', 'FAILED TRIES'],
      rows: [
        ...body.times.map((at, i) => [time(at), ...columns.map((column) => countOf(column?.values[i]))]),
        ['TOTAL', ...columns.map((column) => countOf(column?.total))],
      ],
    }),
  });
}

async function clients(cli: Cli, options: Options): Promise<void> {
  if (!/^\d{1,3}$/.test(options.limit)) throw new Refused(`--limit must be a number; it is ${options.limit}`);
  const realm = await realmOf(cli, { option: options.realm });
  const { client } = await cli.connect();
  const query = { ...spanOf(options), limit: Number(options.limit) };
  const { body } = await client.call(getClientStatistics, { params: { realm }, query, signal: cli.signal });
  if (!body) throw new Refused('the server sent an empty answer');
  const before = (previous: number | null) => (previous === null ? '' : String(previous));
  print(cli.io, options.output, {
    value: body,
    table: () => ({
      head: ['CLIENT', 'TOKENS', 'BEFORE'],
      rows: [
        ...body.clients.map(({ clientId, total, previous }) => [clientId, String(total), before(previous)]),
        ['(others)', String(body.others), ''],
        ['TOTAL', String(body.total), before(body.previous)],
      ],
    }),
  });
}

async function counts(cli: Cli, { realm: option, output }: Options): Promise<void> {
  const realm = await realmOf(cli, { option });
  const { client } = await cli.connect();
  const { body = [] } = await client.call(getCounts, { params: { realm }, signal: cli.signal });
  print(cli.io, output, {
    value: body,
    table: () => ({
      head: ['THING', 'COUNT'],
      rows: body.map(({ thing, count, estimated }) => [thing, estimated ? `about ${count}` : String(count)]),
    }),
  });
}
