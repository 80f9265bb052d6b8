// `realmctl create|edit|delete KIND`: changes single objects through the admin API, if no file declares them.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { parse } from 'yaml';
import { address, ServerProblem } from '../../server/contract/client.ts';
import { isObject } from '../../server/contract/json.ts';
import { withoutTimes } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { faultOf, Refused } from '../faults.ts';
import { readFiles } from '../files.ts';
import { kinds } from '../kind-table.ts';
import type { Kind, Scope } from '../kinds.ts';
import { yamlText } from '../manifest-text.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';
import { confirm } from '../prompt.ts';
import {
  type Flag,
  fieldsOf,
  flagsOf,
  nameFlagOf,
  secretArgument,
  secretIn,
  secretsOf,
  type WriteRoute,
} from '../writes.ts';

/** @param of the parent object, if the kind has one */
export async function scopeOf(cli: Cli, kind: Kind, option: string | undefined, of?: string): Promise<Scope> {
  const realm = kind.inRealm ? await realmOf(cli, { option }) : '';
  return { connection: await cli.connect(), realm, of, signal: cli.signal };
}

/** A command of the kind. The parent object is its first argument. */
export function commandOf(family: Command, kind: Kind): Command {
  const command = family.command(kind.singular).alias(kind.plural).description(kind.help);
  if (kind.of !== undefined) command.argument(`<${kind.of}>`, `the ${kind.of} that they belong to`);
  return command;
}
/** Separates the arguments into the parent object and the other words. */
export const apart = (kind: Kind, [first, ...rest]: readonly string[]): [of: string | undefined, words: string[]] =>
  kind.of === undefined ? [undefined, [...(first === undefined ? [] : [first]), ...rest]] : [first, rest];

export async function send(
  { connection, realm, signal }: Scope,
  { method, path: route }: WriteRoute,
  { at = {}, body, etag }: { at?: Record<string, string>; body?: unknown; etag?: string | undefined },
): Promise<{ value: unknown; status: number }> {
  const response = await connection.fetch(address(route, { realm, ...at }), {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(etag !== undefined && { 'if-match': etag }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  });
  const text = await response.text();
  return { value: text === '' ? undefined : JSON.parse(text), status: response.status };
}

export const registerCreate: Register = (program, cli) => {
  const create = program.command('create').description('make one object, from options or from a file');
  for (const kind of kinds) if (kind.routes.create) registerCreateOf(create, kind, kind.routes.create, cli);
  examples(
    create,
    'realmctl create realm acme',
    'realmctl create role -r acme --name reader --description "May read"',
    'realmctl create client -r acme --client-id web --token-endpoint-auth-method none --redirect-uris https://app.example.com/callback',
    'realmctl create webhook -r acme -f webhook.yaml',
    'realmctl create mapper web -r acme --name department --attribute department --in accessToken,userinfo',
    'realmctl create group staff -r acme --set \'attributes={"floor":["3"]}\'',
    '',
    'What is secret comes from a file (-f, - for stdin), never from an option.',
  );
};

interface CreateOptions {
  realm?: string;
  file?: string;
  set?: string[];
  output: Format;
  [field: string]: unknown;
}
const gathered = (value: string, before: string[] = []): string[] => [...before, value];

function registerCreateOf(create: Command, kind: Kind, route: WriteRoute, cli: Cli): void {
  const command = commandOf(create, kind);
  if (kind.inRealm) addRealm(command);
  command
    .option('-f, --file <file>', 'its fields, YAML or JSON; - is standard input')
    .option('--set <field=value>', 'any field, JSON or text; may be given again', gathered);
  const flags = flagsOf(route).filter(
    ({ long }) => !['--set', '--file', ...(kind.inRealm ? ['--realm'] : [])].includes(long),
  );
  for (const flag of flags) command.addOption(optionOf(flag));
  const named = nameFlagOf(route);
  if (named) command.argument('[name]', `the same as ${named.long}`);
  const secret = secretsOf(route);
  if (secret.length > 0)
    command.addHelpText('after', `\nIn a file alone (-f, - for stdin), being secret: ${secret.join(', ')}`);
  addOutput(command, { names: true }).action(async () => {
    const options = command.opts<CreateOptions>();
    const [of, [name]] = apart(kind, command.args);
    if (named && name !== undefined) options[named.field] = onlyName(named, name, options);
    const scope = await scopeOf(cli, kind, kind.inRealm ? options.realm : undefined, of);
    const body = {
      ...withoutTimes(await fromFile(cli, options.file)),
      ...fromFlags(flags, options),
      ...fromSets(options.set, secret),
    };
    // an empty body is valid if no field is required
    if (Object.keys(body).length === 0 && !route.body.safeParse({}).success)
      throw new Refused(`no field of the ${kind.singular} is set`, 'Give options, or a file with -f.');
    const { value } = await send(scope, route, { at: await kind.within(scope), body });
    const row = isObject(value) ? kind.rowOf(value) : undefined;
    print(cli.io, options.output, {
      value,
      names: () => (row ? [row.name] : []),
      table: () => (row ? { head: kind.heads(false), rows: [row.cells(false)] } : ''),
    });
  });
}

/** The name in its place, unless the option says another. */
function onlyName({ field, long }: Flag, name: string, options: CreateOptions): string {
  const said = options[field];
  if (said !== undefined && said !== name) throw new Refused(`${name} and ${long} ${said} are two names`, 'Give one.');
  return name;
}

function optionOf({ long, of, about, choices }: Flag): Option {
  // the description's first sentence, else the option's name in words
  const first = about.split(/[.;](?:\s|$)/)[0] || long.slice(2).replaceAll('-', ' ');
  const name = long.slice(2).split('-').at(-1);
  if (of === 'flag') return new Option(`${long} [bool]`, first).choices(['true', 'false']).preset('true');
  if (of === 'list') return new Option(`${long} <list>`, `${first}; separated by commas`).argParser(gathered);
  // the realm's option is the same everywhere
  const option = new Option(`${long === '--realm' ? '-r, ' : ''}${long} <${name}>`, first);
  return choices ? option.choices(choices) : option;
}

function fromFlags(flags: readonly Flag[], options: CreateOptions): Record<string, unknown> {
  const said: Record<string, unknown> = {};
  for (const { field, long, of } of flags) {
    const value = options[field];
    if (value === undefined) continue;
    if (of === 'flag') said[field] = value === 'true';
    else if (of === 'list')
      said[field] = [value]
        .flat()
        .flatMap((one) => String(one).split(','))
        .filter((one) => one !== '');
    else if (of === 'text') said[field] = value;
    else if (Number.isNaN(Number(value))) throw new Refused(`${long} must be a number; it is ${value}`);
    else said[field] = Number(value);
  }
  return said;
}

/** @param secret the fields that only a file may hold */
function fromSets(sets: readonly string[] = [], secret: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    sets.map((text) => {
      const [, field, given = ''] = /^([A-Za-z][A-Za-z0-9]*)=([\s\S]*)$/.exec(text) ?? [];
      // the text itself may be a secret
      if (field === undefined) throw new Refused('--set takes field=value', 'Such as --set description=Readers');
      const value = jsonOrText(given);
      const named = secret.includes(field) ? field : secretIn(value);
      if (named !== undefined) throw secretArgument('--set', named);
      return [field, value];
    }),
  );
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function fromFile({ io }: Cli, file: string | undefined): Promise<Record<string, unknown>> {
  if (file === undefined) return {};
  const { items, faults } = await readFiles(io, [file], { recursive: false });
  const [fault] = faults;
  if (fault) throw new Refused(`${fault.file}: ${fault.message}`);
  const [only, ...more] = items;
  if (!only || more.length > 0 || !isObject(only.value)) throw new Refused(`${file} must hold one object`);
  return only.value;
}

/** The fields of an answer that the route takes back. */
export function writable(route: WriteRoute, value: object): Record<string, unknown> {
  const taken = fieldsOf(route);
  return Object.fromEntries(
    Object.entries(value).filter(([field]) => (taken ? taken.has(field) : true) && field !== 'id'),
  );
}

/** Whether the write route gets the whole object: an upsert under the object's own name, or one that requires fields. */
export const takesWhole = (kind: Kind, route: WriteRoute): boolean =>
  route === kind.routes.create || !route.body.safeParse({}).success;

export const registerEdit: Register = (program, cli) => {
  const edit = program.command('edit').description('change one object in your editor ($VISUAL, $EDITOR)');
  for (const kind of kinds) if (kind.routes.put) registerEditOf(edit, kind, kind.routes.put, cli);
  examples(
    edit,
    'realmctl edit client billing -r acme',
    'EDITOR="code --wait" realmctl edit role reader -r acme',
    '',
    'The object is written only if it has not changed meanwhile.',
  );
};

function registerEditOf(edit: Command, kind: Kind, route: WriteRoute, cli: Cli): void {
  const command = commandOf(edit, kind);
  command.argument('<name>', `the ${kind.singular}`);
  if (kind.inRealm) addRealm(command);
  command.action(async () => {
    const [of, [word = '']] = apart(kind, command.args);
    const program = editorOf(cli);
    const scope = await scopeOf(cli, kind, command.opts<{ realm?: string }>().realm, of);
    const found = await kind.find(scope, word);
    const before = writable(route, found.value);
    const head = [
      `# ${kind.singular} ${found.name}${kind.inRealm ? ` in the realm ${scope.realm}` : ''}. Save to write it; empty the file to leave it alone.`,
      ...(found.managedBy.length > 0 ? [`# Managed by ${found.managedBy.join(', ')}, which will put it back.`] : []),
    ];
    const folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-edit-'));
    const file = path.join(folder, `${kind.singular}.yaml`);
    await writeFile(file, `${head.join('\n')}\n${yamlText(before)}`, { mode: 0o600 });
    await editor(cli, program, file);
    const text = await readFile(file, 'utf8');
    try {
      const after: unknown = parse(text);
      const changed = isObject(after)
        ? Object.entries(after).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]))
        : [];
      if (changed.length === 0) {
        writeLine(cli.io, 'Nothing was changed.');
      } else {
        const body = takesWhole(kind, route) ? after : Object.fromEntries(changed);
        const at = { ...(await kind.within(scope)), ...kind.at(found.value) };
        await send(scope, route, { at, body, etag: found.etag });
        writeLine(cli.io, `Changed ${changed.map(([field]) => field).join(', ')}.`);
      }
    } catch (error) {
      const { lines, code } = faultOf(error);
      if (code !== 2 && !(error instanceof ServerProblem)) throw error;
      for (const line of lines) writeLine(cli.io, line);
      throw new Refused('nothing was written', `What you wrote is kept in ${file}.`);
    }
    await rm(folder, { recursive: true, force: true });
  });
}

/** Editors that take over the screen: without a terminal they wait for keys that never come. */
const FULL_SCREEN = new Set(['vi', 'vim', 'nvim', 'view', 'nano', 'pico', 'emacs', 'micro', 'hx', 'joe', 'mcedit']);

/** @throws Refused without a terminal, unless the editor is a program of the user's own that needs none */
function editorOf({ io }: Cli): string {
  const program = io.env.VISUAL || io.env.EDITOR;
  const [command = ''] = (program ?? '').trim().split(/\s+/);
  if (!io.terminal && (command === '' || FULL_SCREEN.has(path.basename(command))))
    throw new Refused(
      'this is not a terminal, so no editor can be opened',
      'Set EDITOR to a program that changes the file it is given, or use: realmctl api PUT … -f FILE',
    );
  return program ?? 'vi';
}

function editor({ io, signal }: Cli, program: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // run by the shell, so that EDITOR may contain options; the file's name is an argument of its own
    const child = spawn('sh', ['-c', `${program} "$1"`, 'sh', file], { stdio: 'inherit', env: { ...io.env }, signal });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Refused(`${program} ended with ${code}`, 'Nothing was written.')),
    );
  });
}

export const registerDelete: Register = (program, cli) => {
  const remove = program.command('delete').description('delete objects by name; asks first');
  for (const kind of kinds) if (kind.routes.remove) registerDeleteOf(remove, kind, kind.routes.remove, cli);
  examples(
    remove,
    'realmctl delete role reader -r acme',
    'realmctl delete client old older -r acme --yes',
    'realmctl delete realm acme',
  );
};

function registerDeleteOf(remove: Command, kind: Kind, route: WriteRoute, cli: Cli): void {
  const command = commandOf(remove, kind);
  command.argument('<name...>', `the ${kind.plural}`);
  if (kind.inRealm) addRealm(command);
  command.option('-y, --yes', 'do not ask').action(async () => {
    const [of, words] = apart(kind, command.args);
    const { realm, yes } = command.opts<{ realm?: string; yes?: true }>();
    const scope = await scopeOf(cli, kind, realm, of);
    // find all objects before deleting any
    const found = [];
    for (const word of words) found.push(await kind.find(scope, word));
    const names = found.map(({ name }) => name).join(', ');
    const where = kind.inRealm ? ` of the realm ${scope.realm}` : '';
    if (!yes && !cli.io.terminal)
      throw new Refused(`this deletes ${kind.singular} ${names}${where}`, 'Say so with --yes.');
    if (!yes && !(await confirm(cli, `Delete ${kind.singular} ${names}${where}?`)))
      throw new Refused('nothing was deleted');
    for (const { name, value } of found) {
      const { status } = await send(scope, route, { at: { ...(await kind.within(scope)), ...kind.at(value) } });
      const goesOn = status === 202 ? ' The server goes on to remove what it held; until then its name is taken.' : '';
      writeLine(cli.io, `Deleted ${kind.singular} ${name}.${goesOn}`);
    }
  });
}
