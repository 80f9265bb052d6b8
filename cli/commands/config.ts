// `realmctl config`: the servers that the user has signed in at, and which of them is used.
import type { Command } from 'commander';
import { ServerProblem } from '../../server/contract/client.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { type Cli, examples, realmName } from '../command.ts';
import { chosenContext } from '../connect.ts';
import type { Context, ContextFile, Contexts } from '../contexts.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';

export function registerConfig(
  program: Command,
  cli: Cli,
  { file, context }: { file: ContextFile; context: () => string | undefined },
): void {
  const { io } = cli;
  const config = program.command('config').helpCommand(false).description('the servers that you signed in at');
  examples(
    addOutput(config.command('get-contexts'), { names: true }).description('list them'),
    'realmctl config get-contexts',
    'realmctl config get-contexts -o name',
  ).action(async ({ output }: { output: Format }) => {
    const { contexts, current } = await file.read();
    const all = Object.entries(contexts);
    print(io, output, {
      value: all.map(([name, one]) => ({ name, current: name === current, ...shown(one) })),
      names: () => all.map(([name]) => name),
      table: () => ({
        head: ['CURRENT', 'NAME', 'SERVER', 'REALM', 'SIGNED IN AS', 'ABOUT'],
        rows: all.map(([name, one]) => [
          name === current ? '*' : '',
          name,
          one.server,
          one.realm,
          one.session ? (one.name ?? 'somebody') : '-',
          one.defaultRealm ?? '',
        ]),
      }),
    });
  });
  examples(
    config.command('current-context').description('the name of the one that is used'),
    'realmctl config current-context',
  ).action(async () => {
    io.stdout.write(`${chosenContext(await file.read(), io.env, context())[0]}\n`);
  });
  examples(
    config.command('use-context <name>').description('use another one from now on'),
    'realmctl config use-context staging',
  ).action(async (name: string) => {
    await file.update(async (contexts) => ({ ...contexts, current: named(contexts, name) }));
    writeLine(io, `Using ${name}.`);
  });
  examples(
    config
      .command('set-realm')
      .argument('[realm]', 'left out: none any more', realmName)
      .description('the realm that commands are about which say no other'),
    'realmctl config set-realm acme && realmctl get clients',
  ).action(async (realm: string | undefined) => {
    const [name] = chosenContext(await file.read(), io.env, context());
    await file.update(async (stored) => {
      const { defaultRealm: _, ...rest } = stored.contexts[named(stored, name)] ?? {};
      const changed = { ...rest, ...(realm !== undefined && { defaultRealm: realm }) } as Context;
      return { ...stored, contexts: { ...stored.contexts, [name]: changed } };
    });
    writeLine(io, realm === undefined ? `${name} keeps no realm.` : `${name} is about the realm ${realm}.`);
    if (realm !== undefined && !(await mayBeThere(cli, realm)))
      writeLine(io, `Warning: ${name} has no realm ${realm}, or you may not see it.`);
  });
  examples(
    config.command('delete-context <name>').description('forget one; its session is not ended: see logout'),
    'realmctl config delete-context staging',
  ).action(async (name: string) => {
    await file.update(async (stored) => {
      const { [named(stored, name)]: _, ...contexts } = stored.contexts;
      return stored.current === name ? { contexts } : { ...stored, contexts };
    });
    writeLine(io, `Forgot ${name}.`);
  });
}

/** Whether the realm may exist. False only if the server answers that it doesn't; other errors prove nothing. */
const mayBeThere = async (cli: Cli, realm: string): Promise<boolean> =>
  cli
    .connect()
    .then(({ client }) => client.call(getRealm, { params: { realm }, signal: cli.signal }))
    .then(
      () => true,
      (error) => !(error instanceof ServerProblem && error.status === 404),
    );

/** A context as it is printed: without its session. */
const shown = ({ server, realm, name, session, defaultRealm }: Context) => ({
  server,
  realm,
  defaultRealm: defaultRealm ?? null,
  user: name,
  signedIn: session !== undefined,
});

function named({ contexts }: Contexts, name: string): string {
  if (!Object.hasOwn(contexts, name))
    throw new Refused(`there is no context ${name}`, `There are: ${Object.keys(contexts).join(', ') || 'none'}.`);
  return name;
}
