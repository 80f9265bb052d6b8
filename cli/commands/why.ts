// `realmctl why user NAME`: why a user can or can't sign in, and which steps a sign-in would take in a given situation.
import { type Command, Option } from 'commander';
import {
  getSignInReport,
  type RiskShown,
  type SignInAttempt,
  type SignInPath,
  type SignInReport,
  simulateSignIn,
  simulateUnsavedFlow,
} from '../../server/contract/sign-in-report.ts';
import { text, time, yes } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { Refused } from '../faults.ts';
import { stepsInFile } from '../flow-file.ts';
import { addOutput, type Format, paint, plain, print } from '../output.ts';
import { users } from '../run-time-kinds.ts';

interface Options {
  realm?: string;
  output: Format;
  client?: string;
  attempts: string;
  flow?: string;
  file?: string;
  address?: string;
  newBrowser?: true;
  risk?: 'low' | 'medium' | 'high';
  level?: string;
}

export const registerWhy: Register = (program, cli) => {
  const why = program.command('why').description('say why something is as it is');
  const command: Command = addOutput(addRealm(why.command('user').argument('<user>', 'username or id')))
    .description('why a user can or can’t sign in; with a situation, which steps a sign-in would take in it')
    .option('--client <client>', 'a sign-in to this application')
    .option('--attempts <n>', 'how many of the last attempts', '10')
    .option('--flow <alias>', 'as if this flow were bound')
    .option(
      '-f, --file <file>',
      'as if the flow were saved with the steps of this file: a Flow manifest, a realm document',
    )
    .option('--address <address>', 'the situation: from this address')
    .option('--new-browser', 'the situation: in a browser that the user has not signed in with')
    .addOption(new Option('--risk <band>', 'the situation: of this risk').choices(['low', 'medium', 'high']))
    .option('--level <n>', 'the level of assurance that the application asks for')
    .action(async (word: string, options: Options) => whyUser(cli, word, options));
  examples(
    command,
    'realmctl why user ana@example.com -r acme',
    'realmctl why user ana -r acme --client web -o yaml',
    'realmctl why user ana -r acme --new-browser --risk high',
    'realmctl why user ana -r acme --flow browser-with-passkeys --address 192.0.2.7',
    'realmctl why user ana -r acme --flow browser -f flow.yaml',
  );
};

async function whyUser(cli: Cli, word: string, options: Options): Promise<void> {
  const realm = await realmOf(cli, { option: options.realm });
  const connection = await cli.connect();
  const { client } = connection;
  const found = await users.find({ connection, realm, signal: cli.signal }, word);
  const params = { realm, userId: String(Reflect.get(found.value, 'id')) };
  const { client: clientId, flow, address: ipAddress, newBrowser, risk: riskBand, level } = options;
  const { file } = options;
  const known = newBrowser === undefined;
  const asked = level === undefined ? {} : { level: numberOf('--level', level) };
  const situated = [flow, file, ipAddress, newBrowser, riskBand, level].some((one) => one !== undefined);
  if (situated) {
    if (file !== undefined && flow === undefined)
      throw new Refused('which flow has these steps?', 'Name it by --flow.');
    const situation = { clientId, flow, ipAddress, riskBand, ...asked };
    const { body: simulated } =
      file === undefined || flow === undefined
        ? await client.call(simulateSignIn, {
            params,
            query: { ...situation, deviceKnown: String(known) },
            signal: cli.signal,
          })
        : await client.call(simulateUnsavedFlow, {
            params,
            body: { ...situation, deviceKnown: known, executions: await stepsInFile(cli.io, file, flow) },
            signal: cli.signal,
          });
    if (!simulated) throw new Refused('the server answered nothing');
    const lines = () => [`${found.name} in this situation`, ...riskLines(simulated.risk), ...pathLines(simulated.path)];
    print(cli.io, options.output, { value: simulated, table: () => lines().map(plain).join('\n') });
    return;
  }
  const query = { clientId, attempts: numberOf('--attempts', options.attempts) };
  const { body: report } = await client.call(getSignInReport, { params, query, signal: cli.signal });
  if (!report) throw new Refused('the server answered nothing');
  print(cli.io, options.output, { value: report, table: () => reportText(cli, report) });
}

function numberOf(option: string, value: string): number {
  if (!/^\d{1,3}$/.test(value)) throw new Refused(`${option} must be a number; it is ${value}`);
  return Number(value);
}

function reportText({ io }: Cli, report: SignInReport): string {
  const { username, canSignIn, obstacles, enabled, lock, requiredActions, attempts } = report;
  const title = `${username} ${canSignIn ? 'can sign in' : 'can’t sign in'}`;
  const lines = [
    paint(io, canSignIn ? 'green' : 'red', plain(title)),
    ...obstacles.map(({ message }) => paint(io, 'red', plain(`! ${message}`))),
    ...[
      `Enabled: ${yes(enabled)}`,
      `Lock: ${lock.message}`,
      `Required actions: ${requiredActions.join(', ') || 'none'}`,
      ...pathLines(report.path),
      ...(attempts === null
        ? ['Last attempts: not permitted']
        : ['Last attempts:', ...(attempts.length === 0 ? ['  none'] : attempts.flatMap(attemptLines))]),
    ].map(plain),
  ];
  return lines.join('\n');
}

const pathLines = ({ flow, boundBy, steps, message }: SignInPath): string[] => [
  `Flow: ${flow}, bound by the ${boundBy}`,
  ...steps.map(({ able, message: words }, i) => `  ${i + 1}. ${able ? '' : '! '}${words}`),
  `  ${message}`,
];

const riskLines = (risk: RiskShown | null): string[] =>
  risk === null
    ? []
    : [
        `Risk: ${risk.band} (${risk.score} points), which the realm answers by ${risk.action}`,
        ...risk.findings.map(({ message, points }) => `  ${message} (${points})`),
      ];

const attemptLines = ({ at, message, ipAddress, clientId, risk }: SignInAttempt): string[] => [
  `  ${[time(at), message, ipAddress === null ? '' : `from ${ipAddress}`, clientId === null ? '' : `for ${text(clientId)}`].filter(Boolean).join(', ')}`,
  ...riskLines(risk).map((line) => `    ${line}`),
];
