// `realmctl managers`: lists a realm's managers, releases them, and allows managers to adopt an existing realm.
import type { Command } from 'commander';
import { getAdoption, putAdoption } from '../../server/contract/realms.ts';
import { moveManagers, releaseManager } from '../../server/contract/transfer.ts';
import { addRealm, type Cli, examples, managerName, type Register, realmName, realmOf } from '../command.ts';
import { managers as kind } from '../configuration-kinds.ts';
import { Refused } from '../faults.ts';
import type { Row } from '../kinds.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';
import { confirm } from '../prompt.ts';

export const registerManagers: Register = (program, cli) => {
  const managers = program.command('managers').description('who keeps what of a realm as declared');
  list(managers, cli);
  release(managers, cli);
  move(managers, cli);
  adoption(managers, cli);
  examples(
    managers,
    'realmctl managers acme',
    'realmctl managers release acme k8s:prod/identity/Realm/acme',
    'realmctl managers release acme import --delete-objects --yes',
    'realmctl managers move k8s:old k8s:new --dry-run',
    "realmctl managers allow acme 'k8s:*/identity/*'",
  );
};

function list(managers: Command, cli: Cli): void {
  const command = managers
    .command('list', { isDefault: true })
    .argument('[realm]', 'the realm', realmName)
    .description('list managers with what they own and when they last applied');
  addOutput(addRealm(command), { names: true }).action(async (place: string | undefined, options: Listing) => {
    const { output } = options;
    const realm = await realmOf(cli, { option: options.realm, place });
    const scope = { connection: await cli.connect(), realm, signal: cli.signal };
    const rows: Row[] = [];
    for await (const row of kind.rows(scope, {}, 0)) rows.push(row);
    if (rows.length === 0 && output === 'table') return writeLine(cli.io, `No manager owns anything in ${realm}.`);
    print(cli.io, output, {
      value: rows.map(({ value }) => value),
      names: () => rows.map(({ name }) => name),
      table: () => ({ head: kind.heads(true), rows: rows.map((row) => row.cells(true)) }),
    });
  });
}

interface Listing {
  output: Format;
  realm?: string;
}

function release(managers: Command, cli: Cli): void {
  addRealm(managers.command('release'))
    .argument('<realm>', 'the realm; left out where -r or the context says it')
    .argument('[manager]', 'its name, as the list shows it', managerName)
    .description('release all that a manager owns; the objects stay as they are')
    .option('--delete-objects', 'delete the objects too')
    .option('-y, --yes', 'do not ask')
    .action(async (first: string, second: string | undefined, options: Release) => {
      const { deleteObjects = false, yes = false } = options;
      const manager = second ?? managerName(first);
      const realm = await realmOf(cli, { option: options.realm, ...(second !== undefined && { place: first }) });
      const { client } = await cli.connect();
      if (deleteObjects && !yes) await sure(cli, `Delete all that ${manager} owns in ${realm}?`);
      await client.call(releaseManager, {
        params: { realm, manager },
        query: { objects: deleteObjects ? 'delete' : 'keep' },
        signal: cli.signal,
      });
      writeLine(cli.io, `${manager} owns nothing in ${realm} any more.`);
    });
}
interface Release {
  realm?: string;
  deleteObjects?: boolean;
  yes?: boolean;
}

/** `move`: a cluster that was rebuilt under another name takes over the objects of the old one. */
function move(managers: Command, cli: Cli): void {
  const command = managers
    .command('move')
    .argument('<from>', 'a manager, or the beginning of names up to a slash, such as k8s:old', managerName)
    .argument('<to>', 'the name in its place', managerName)
    .description('let one name own what another did, in every realm; the realms stay as they are')
    .option('--dry-run', 'show what would move, change nothing')
    .option('-y, --yes', 'do not ask');
  addOutput(command).action(async (from: string, to: string, { dryRun, yes, output }: Move) => {
    const { client } = await cli.connect();
    const asked = { body: { from, to }, signal: cli.signal };
    const { body: plan } = await client.call(moveManagers, { ...asked, query: { dryRun: 'true' } });
    if (!plan) return;
    const realms = [...plan.realms, ...plan.formerRealms.map((name) => `${name} (deleted)`)];
    print(cli.io, output, {
      value: plan,
      table: () => ({
        head: ['REALM', 'MANAGER', 'BECOMES', 'OBJECTS'],
        rows: plan.managers.map((one) => [one.realm, one.from, one.to, String(one.objects)]),
      }),
    });
    if (realms.length > 0) writeLine(cli.io, `Made by ${from}, or its to adopt: ${realms.join(', ')}`);
    if (plan.managers.length + realms.length === 0) return writeLine(cli.io, `${from} owns nothing.`);
    if (dryRun) return;
    if (!yes && !(await confirm(cli, `Move all of it to ${to}?`))) throw new Refused('nothing was changed');
    await client.call(moveManagers, asked);
    writeLine(cli.io, `${to} owns what ${from} did.`);
  });
}
interface Move {
  output: Format;
  dryRun?: boolean;
  yes?: boolean;
}

async function sure(cli: Cli, question: string): Promise<void> {
  if (!cli.io.terminal) throw new Refused('this deletes objects', 'Say so with --yes.');
  if (!(await confirm(cli, question))) throw new Refused('nothing was changed');
}

/** Adds the commands for the managers (`k8s:prod/identity/…`) that may take over an existing realm. */
function adoption(managers: Command, cli: Cli): void {
  const change = (name: string, description: string, next: (now: string[], pattern: string) => string[]) => {
    const command = managers
      .command(name)
      .argument('[realm]', 'the realm; left out where -r says it')
      .argument('[pattern]', 'managers’ names; * is any run of characters; left out: show who may')
      .description(description);
    addOutput(addRealm(command), { names: true }).action(
      async (first: string | undefined, second: string | undefined, { output, realm: option }: Listing) => {
        // with -r, a single word is the pattern
        const alone = option !== undefined && second === undefined && first !== option;
        const pattern = alone ? first : second;
        const realm = await realmOf(cli, { option, ...(!alone && { place: first }) });
        const { client } = await cli.connect();
        const params = { realm };
        const { body, etag } = await client.call(getAdoption, { params, signal: cli.signal });
        const now = body?.managers ?? [];
        const wanted = pattern === undefined ? now : next(now, pattern);
        if (wanted !== now)
          await client.call(putAdoption, {
            params,
            body: { managers: wanted },
            headers: etag === undefined ? {} : { 'if-match': etag },
            signal: cli.signal,
          });
        if (wanted.length === 0 && output === 'table') return writeLine(cli.io, `No manager may adopt ${realm}.`);
        print(cli.io, output, {
          value: wanted,
          names: () => wanted,
          table: () => ({ head: ['MAY ADOPT'], rows: wanted.map((one) => [one]) }),
        });
      },
    );
  };
  change('allow', 'let managers adopt a realm that exists already', (now, pattern) =>
    now.includes(pattern) ? now : [...now, pattern],
  );
  change('disallow', 'no longer let them', (now, pattern) =>
    now.includes(pattern) ? now.filter((one) => one !== pattern) : now,
  );
}
