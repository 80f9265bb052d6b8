// `realmctl flow replay ALIAS`: the sign-ins of the last days, tried against an edited flow. Nothing is written.
import { type Command, Option } from 'commander';
import {
  type FlowReplay,
  type ReplayedEvents,
  type ReplayOutcome,
  replayFlow,
} from '../../server/contract/flow-replay.ts';
import { text, time } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { Refused } from '../faults.ts';
import { stepsInFile } from '../flow-file.ts';
import { addOutput, type Format, paint, plain, print } from '../output.ts';
import { timeOf } from './get.ts';

interface Options {
  realm?: string;
  output: Format;
  file?: string;
  since?: number;
  until?: number;
  limit?: string;
  signIns?: 'of-flow' | 'all';
}

export const registerFlow: Register = (program, cli) => {
  const flow = program.command('flow').description('try a sign-in flow out before it is saved');
  const command: Command = addOutput(addRealm(flow.command('replay').argument('<flow>', 'its alias')))
    .description('the last days’ sign-ins against an edited flow: who would be asked for more, who would be locked out')
    .option(
      '-f, --file <file>',
      'the edited flow: a Flow manifest, a realm document, or `get flow NAME -o yaml`; - is stdin',
    )
    .option('--since <time>', 'sign-ins from then on: 12h, 30d, or a date (default: seven days)', timeOf('--since'))
    .option('--until <time>', 'until then (default: now)', timeOf('--until'))
    .option('--limit <n>', 'at most so many successful sign-ins, and as many failed ones (default: 500)')
    .addOption(
      new Option('--sign-ins <which>', 'those that this flow decides now, or all of the realm').choices([
        'of-flow',
        'all',
      ]),
    )
    .action(async (alias: string, options: Options) => replay(cli, alias, options));
  examples(
    command,
    'realmctl flow replay browser -r acme -f flow.yaml',
    'realmctl flow replay browser -r acme -f flow.yaml --since 24h',
    "realmctl flow replay browser -r acme -f flow.yaml -o jsonpath='{.affected[*].username}'",
    'realmctl get flow browser -r acme -o yaml > flow.yaml           # a file to begin with',
  );
};

async function replay(cli: Cli, alias: string, options: Options): Promise<void> {
  const realm = await realmOf(cli, { option: options.realm });
  const { file, since: from, until: to, limit, signIns } = options;
  if (limit !== undefined && !/^\d{1,3}$/.test(limit)) throw new Refused(`--limit must be a number; it is ${limit}`);
  const executions = file === undefined ? undefined : await stepsInFile(cli.io, file, alias);
  const { client } = await cli.connect();
  const { body } = await client.call(replayFlow, {
    params: { realm, alias },
    body: { executions, from, to, ...(limit !== undefined && { limit: Number(limit) }), signIns },
    signal: cli.signal,
  });
  if (!body) throw new Refused('the server answered nothing');
  print(cli.io, options.output, { value: body, table: () => replayText(cli, body) });
}

const outcomes: Readonly<Record<ReplayOutcome, string>> = {
  'locked-out': 'locked out',
  'let-in': 'let in again',
  'asks-more': 'asked for more',
  'asks-less': 'asked for less',
  'blocked-already': 'don’t get in, as now',
  unchanged: 'as now',
};

const sampleOf = ({ read, sampled, oldestAt }: ReplayedEvents): string =>
  sampled && oldestAt !== null ? `the newest ${read}, back to ${time(oldestAt)}` : String(read);

function replayText({ io }: Cli, found: FlowReplay): string {
  const { flow, from, to, signIns, successes, failures, replayed, notReplayed, affected, assumptions } = found;
  const { otherFlow, otherFailures, unknownUser, noTime } = notReplayed;
  const left = [
    [otherFlow, 'decided by another flow'],
    [otherFailures, 'failed for another reason than the flow'],
    [unknownUser, 'of users who are not known, or not there any more'],
    [noTime, 'for lack of time'],
  ].flatMap(([count, words]) => (Number(count) > 0 ? [`${count} ${words}`] : []));
  const lines = [
    `Sign-ins with ${flow} from ${time(from)} to ${time(to)}: ${signIns === 'all' ? 'all of the realm' : 'those that this flow decides'}`,
    `Successful: ${sampleOf(successes)}. Failed: ${sampleOf(failures)}.`,
    `Tried: ${replayed.signIns} sign-ins of ${replayed.users} users.${left.length > 0 ? ` Not tried: ${left.join(', ')}.` : ''}`,
    ...found.outcomes
      .filter(({ signIns: count }) => count > 0)
      .map(({ outcome, users, signIns: count }) => `  ${outcomes[outcome]}: ${users} users, ${count} sign-ins`),
  ].map(plain);
  const users = (affected ?? []).map(({ outcome, username, message, clientId, at }) => {
    const line = `  ${username}, ${outcomes[outcome]}: ${message} (${time(at)}${clientId === null ? '' : `, ${text(clientId)}`})`;
    return outcome === 'locked-out' ? paint(io, 'red', plain(line)) : plain(line);
  });
  const reasons = found.reasons.map(({ outcome, message, users: count }) =>
    plain(`  ${outcomes[outcome]}: ${message} (${count} users)`),
  );
  return [
    ...lines,
    ...(affected === null
      ? ['Users are shown with the permission users:read. Reasons:', ...reasons]
      : affected.length > 0
        ? ['Users:', ...users]
        : []),
    'What the events do not hold:',
    ...assumptions.map((words) => plain(`  ${words}`)),
  ].join('\n');
}
