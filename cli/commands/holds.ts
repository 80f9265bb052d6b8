// `realmctl hold`, `realmctl unhold`: keep what a document manages as it is for an emergency edit, and end that.

import { allRows } from '../../server/contract/client.ts';
import { HOUR_MS } from '../../server/contract/durations.ts';
import {
  areaOfHeldKind,
  endHold,
  type HeldThing,
  LONGEST_HOLD_MS,
  listHolds,
  placeHold,
} from '../../server/contract/holds.ts';
import { time } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { heldText } from '../configuration-kinds.ts';
import { durationIn } from '../durations.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, plain, print, writeLine } from '../output.ts';

interface Placing {
  realm?: string;
  reason: string;
  for: number;
  until?: number;
  all?: true;
  output: Format;
}

export const registerHold: Register = (program, cli) => {
  const command = program
    .command('hold')
    .argument('<kind>', 'as plans name it: client, flow, settings, client-role, …', kindOf)
    .argument('[names...]', 'natural keys; of settings the fields, of a client role client/role')
    .description('keep what a document manages as it is for a while, to change it by hand')
    .requiredOption('--reason <text>', 'why, for those who see the difference')
    .option('--for <time>', 'how long: 30m, 4h, at most 7d', durationOf, HOUR_MS)
    .option('--until <time>', 'until when, instead: 2026-01-31T18:00:00Z', instantOf)
    .option('--all', 'all of the kind, in place of names');
  addOutput(addRealm(command), { names: true }).action(
    async (kind: HeldThing['kind'], names: readonly string[], options: Placing) => place(cli, kind, names, options),
  );
  examples(
    command,
    "realmctl hold client shop -r acme --reason 'the shop is down' --for 4h",
    "realmctl hold settings passwordMinLength requireMfa -r acme --reason 'INC-1234'",
    "realmctl hold client-role shop/admin -r acme --reason 'audit' --until 2026-01-31T18:00:00Z",
    "realmctl hold workload-identity --all -r acme --reason 'moving the pipelines' --for 2d",
    '',
    'Then change it: realmctl edit, the admin API. When the hold ends, what is declared returns.',
  );
};

async function place(cli: Cli, kind: HeldThing['kind'], names: readonly string[], options: Placing): Promise<void> {
  if (names.length === 0 && !options.all) throw new Refused(`which ${kind}?`, 'Name them, or say --all.');
  if (names.length > 0 && options.all) throw new Refused('names and --all exclude each other');
  const realm = await realmOf(cli, { option: options.realm });
  const { client } = await cli.connect();
  const { body: hold } = await client.call(placeHold, {
    params: { realm },
    body: {
      what: names.length === 0 ? [{ kind }] : names.map((key) => ({ kind, key })),
      reason: options.reason,
      until: options.until ?? Date.now() + options.for,
    },
    signal: cli.signal,
  });
  if (!hold) return;
  print(cli.io, options.output, {
    value: hold,
    names: () => [hold.id],
    table: () => ({ head: ['HOLD', 'HOLDS', 'UNTIL'], rows: [[hold.id, heldText(hold.what), time(hold.until)]] }),
  });
  writeLine(
    cli.io,
    `Documents leave it as it is until ${time(hold.until)}. To end that before: realmctl unhold ${hold.id} -r ${realm}`,
  );
}

interface Ending {
  realm?: string;
  all?: true;
}

export const registerUnhold: Register = (program, cli) => {
  const command = addRealm(program.command('unhold'))
    .argument('[id]', 'the hold, as get holds lists it')
    .option('--all', 'every hold of the realm')
    .description('end a hold before its time: what is declared returns');
  command.action(async (id: string | undefined, options: Ending) => {
    if ((id === undefined) !== (options.all === true)) throw new Refused('which hold?', 'Give its id, or --all.');
    const realm = await realmOf(cli, { option: options.realm });
    const { client } = await cli.connect();
    const ids: string[] = [];
    if (id !== undefined) ids.push(id);
    else
      for await (const hold of allRows(client, listHolds, { params: { realm }, signal: cli.signal })) ids.push(hold.id);
    for (const one of ids) {
      await client.call(endHold, { params: { realm, id: one }, signal: cli.signal });
      writeLine(cli.io, `The hold ${plain(one)} has ended.`);
    }
    if (ids.length === 0) writeLine(cli.io, `No hold stands in ${realm}.`);
  });
  examples(
    command,
    'realmctl get holds -r acme',
    'realmctl unhold 0198c5a0-1c1e-7d4a-9b43-0c9bd3d4f5a6 -r acme',
    'realmctl unhold --all -r acme',
  );
};

/** The kind that the word means: as in plans (`clientRole`), or with hyphens. */
function kindOf(word: string): HeldThing['kind'] {
  const folded = (text: string) => text.replaceAll('-', '').toLowerCase();
  const found = [...areaOfHeldKind.keys()].find((kind) => folded(kind) === folded(word));
  if (found === undefined)
    throw new Refused(
      `${word} is no kind that a document declares`,
      `There is: ${[...areaOfHeldKind.keys()].join(', ')}`,
    );
  return found as HeldThing['kind'];
}

function durationOf(text: string): number {
  const ms = durationIn(text) ?? 0;
  if (ms <= 0 || ms > LONGEST_HOLD_MS)
    throw new Refused(`--for must be a time such as 30m, 4h or 7d, at most 7d; it is ${text}`);
  return ms;
}

function instantOf(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new Refused(`--until must be a time such as 2026-01-31T18:00:00Z; it is ${text}`);
  return at;
}
