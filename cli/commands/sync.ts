// `realmctl sync directory`: imports the users of a directory, and shows the progress.
import { setTimeout as sleep } from 'node:timers/promises';
import { type DirectorySync, getDirectorySync, syncDirectory } from '../../server/contract/directory-syncs.ts';
import { addRealm, examples, type Register, realmOf } from '../command.ts';
import { Interrupted, Refused } from '../faults.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';
import { progress } from '../progress.ts';

interface Options {
  changed?: boolean;
  wait: boolean;
  output: Format;
  realm?: string;
}

const LOOK_MS = 500;
const hasEnded = ({ state }: DirectorySync): boolean => state === 'done' || state === 'failed';

/** `120 of 480 (25 %)` */
const readOf = ({ read, total }: DirectorySync): string =>
  total === null || total === 0
    ? String(read)
    : `${read} of ${total} (${Math.min(100, Math.floor((read / total) * 100))} %)`;

export const registerSync: Register = (program, cli) => {
  const sync = program.command('sync').description('import data that another system keeps');
  const command = addRealm(sync.command('directory'))
    .argument('<alias>', 'the directory')
    .description('import the users of a directory; the server continues even if realmctl ends')
    .option('--changed', 'only what was changed since the last sync; who is gone is not seen so')
    .option('--no-wait', 'only ask for it');
  examples(
    addOutput(command, {}),
    'realmctl sync directory corporate -r acme',
    'realmctl sync directory corporate -r acme --changed --no-wait',
  ).action(async (alias: string, { changed = false, wait, output, realm: option }: Options) => {
    const realm = await realmOf(cli, { option });
    const { client } = await cli.connect();
    const params = { realm, alias };
    const { signal } = cli;
    const query = { kind: changed ? ('changed' as const) : ('full' as const) };
    let { body: now } = await client.call(syncDirectory, { params, query, signal });
    const tell = progress(cli.io);
    while (wait && now && !hasEnded(now)) {
      tell.say(`Directory ${alias}: ${readOf(now)} entries read, ${now.added} added, ${now.updated} updated`);
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {
        throw new Interrupted();
      });
      const { id: syncId } = now;
      now = (await client.call(getDirectorySync, { params: { ...params, syncId }, signal })).body;
    }
    tell.end();
    if (!now) return;
    const found = now;
    print(cli.io, output, {
      value: found,
      table: () => ({
        head: ['STATE', 'READ', 'ADDED', 'UPDATED', 'DISABLED', 'FAILED'],
        rows: [[found.state, ...[found.read, found.added, found.updated, found.disabled, found.failed].map(String)]],
      }),
    });
    for (const { entry, message } of found.errors) writeLine(cli.io, `${entry} ${message}`);
    if (found.state === 'failed') throw new Refused(`the sync failed: ${found.error ?? 'the server does not say why'}`);
  });
};
