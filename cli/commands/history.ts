// `realmctl history`, `realmctl undo`: lists the plans that were applied to a realm, and undoes one.
import { type AppliedPlan, getHistory, listHistory, undoHistory } from '../../server/contract/history.ts';
import { Plan } from '../../server/contract/transfer.ts';
import { party, time } from '../cells.ts';
import { addRealm, type Cli, examples, managerName, type Register, realmOf } from '../command.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, paint, plain, print, writeLine } from '../output.ts';
import { doneText, planText } from '../plan.ts';
import { confirm } from '../prompt.ts';

interface Options {
  realm?: string;
  output: Format;
}

export const registerHistory: Register = (program, cli) => {
  const command = program
    .command('history')
    .argument('[realm]', 'the realm; left out where -r or the context says it')
    .argument('[revision]', 'show what the plan changed that made this revision')
    .description('list the plans that were applied to a realm, newest first, or show one')
    .option('--manager <name>', 'of this manager alone', managerName)
    .option('--limit <n>', 'so many at most', '20');
  addOutput(addRealm(command)).action(
    async (
      first: string | undefined,
      second: string | undefined,
      options: Options & { manager?: string; limit: string },
    ) => {
      const { revision, realm } = await placeOf(cli, first, second, options);
      await (revision === undefined ? list(cli, realm, options) : show(cli, realm, revision, options));
    },
  );
  examples(
    command,
    'realmctl history acme',
    'realmctl history acme 42',
    'realmctl history acme --manager import -o json',
  );
};

export const registerUndo: Register = (program, cli) => {
  const command = program
    .command('undo')
    .argument('[realm]', 'the realm; left out where -r or the context says it')
    .argument('[revision]', 'the revision that the plan made, as history lists it')
    .description('take an applied plan back: shows the inverse, asks, applies it')
    .option('--dry-run', 'show what would change, change nothing')
    .option('-y, --yes', 'do not ask');
  addOutput(addRealm(command)).action(
    async (
      first: string | undefined,
      second: string | undefined,
      options: Options & { dryRun?: boolean; yes?: boolean },
    ) => {
      const { revision, realm } = await placeOf(cli, first, second, options);
      if (revision === undefined) throw new Refused('which plan?', `realmctl history ${realm} lists their revisions.`);
      await undo(cli, realm, revision, options);
    },
  );
  examples(command, 'realmctl undo acme 42 --dry-run', 'realmctl undo acme 42 --yes');
};

/** Parses `acme 42`, or `42` if an option or the context names the realm. */
async function placeOf(cli: Cli, first: string | undefined, second: string | undefined, { realm: option }: Options) {
  const isNumber = (text: string | undefined) => text !== undefined && /^\d{1,15}$/.test(text);
  // a realm may also be called 42: if there are two words, the first is the realm
  const alone = second === undefined && isNumber(first);
  const revision = alone ? first : second;
  if (revision !== undefined && !isNumber(revision)) throw new Refused(`${revision} is no revision`, 'It is a number.');
  const realm = await realmOf(cli, { option, ...(!alone && first !== undefined && { place: first }) });
  return { realm, revision: revision === undefined ? undefined : Number(revision) };
}

const countsOf = ({ create, update, delete: remove }: AppliedPlan): string =>
  [
    ...(create ? [`${create} created`] : []),
    ...(update ? [`${update} updated`] : []),
    ...(remove ? [`${remove} deleted`] : []),
  ].join(', ') || 'ownership alone';

async function list(
  cli: Cli,
  realm: string,
  { output, manager, limit }: Options & { manager?: string; limit: string },
): Promise<void> {
  const { client } = await cli.connect();
  const query = { limit, ...(manager !== undefined && { manager }) };
  const { body: plans = [] } = await client.call(listHistory, { params: { realm }, query, signal: cli.signal });
  if (plans.length === 0 && output === 'table') return writeLine(cli.io, `No applied plan is kept of ${realm}.`);
  print(cli.io, output, {
    value: plans,
    table: () => ({
      head: ['REVISION', 'APPLIED', 'MANAGER', 'BY', 'CHANGES'],
      rows: plans.map((one) => [
        String(one.revision),
        time(one.appliedAt),
        one.manager,
        party(one.by),
        `${countsOf(one)}${one.undoes === null ? '' : ` (undoes ${one.undoes})`}`,
      ]),
    }),
  });
}

async function show(cli: Cli, realm: string, revision: number, { output }: Options): Promise<void> {
  const { client } = await cli.connect();
  const { body } = await client.call(getHistory, { params: { realm, revision }, signal: cli.signal });
  if (!body) return;
  print(cli.io, output, {
    value: body,
    table: () => {
      const { manager, by, appliedAt } = body;
      const head = `Revision ${revision}, applied ${time(appliedAt)} as ${manager}${by ? ` by ${party(by)}` : ''}`;
      return [paint(cli.io, 'dim', plain(head)), shownPlan(cli, realm, { ...nothing, ...body })].join('\n');
    },
  });
  if (!body.complete)
    writeLine(
      cli.io,
      'The plan was too large to be kept whole, or named a user who was erased, so it can’t be undone.',
    );
}

/** A plan without conflicts. */
const nothing = Plan.parse({
  manager: '',
  revision: 0,
  changes: [],
  ownership: [],
  conflicts: [],
  inSync: false,
  summary: { create: 0, update: 0, delete: 0, text: '' },
});
const shownPlan = (cli: Cli, realm: string, plan: Plan): string => planText(cli.io, { realm, plan, notCompared: [] });

async function undo(
  cli: Cli,
  realm: string,
  revision: number,
  { output, dryRun, yes }: Options & { dryRun?: boolean; yes?: boolean },
): Promise<void> {
  const { client } = await cli.connect();
  const asked = { params: { realm, revision }, signal: cli.signal };
  const { body: planned, etag } = await client.call(undoHistory, { ...asked, query: { dryRun: 'true' } });
  if (!planned) return;
  const showing = { value: planned, table: () => shownPlan(cli, realm, planned) };
  if (dryRun) return print(cli.io, output, showing);
  if (!yes && !planned.inSync) {
    if (!cli.io.terminal) throw new Refused('nothing was undone', 'Look at it with --dry-run; to do it, add --yes.');
    writeLine(cli.io, shownPlan(cli, realm, planned));
    if (!(await confirm(cli, `Undo revision ${revision} of ${realm}?`))) throw new Refused('nothing was undone');
  }
  const headers = etag === undefined ? {} : { 'if-match': etag };
  const { body: plan } = await client.call(undoHistory, { ...asked, headers });
  if (!plan) return;
  print(cli.io, output, { value: plan, table: () => shownPlan(cli, realm, plan) });
  writeLine(
    cli.io,
    plan.inSync
      ? `Revision ${revision} of ${realm} is undone already.`
      : `Undid revision ${revision} of ${realm}: ${doneText(plan)}. What ${plan.manager} applies again, it applies again.`,
  );
}
