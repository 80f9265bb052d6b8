// `realmctl enable|disable KIND NAME…`: switches objects on or off that have the field `enabled`, and says what changed.
import type { Command } from 'commander';
import { similarName } from '../../server/contract/similar.ts';
import { addRealm, type Cli, examples, type Register } from '../command.ts';
import { Refused } from '../faults.ts';
import { kinds } from '../kind-table.ts';
import type { Found, Kind } from '../kinds.ts';
import { writeLine } from '../output.ts';
import { flagsOf, type WriteRoute } from '../writes.ts';
import { apart, commandOf, scopeOf, send, takesWhole, writable } from './write.ts';

const FIELD = 'enabled';

/** The route that switches the kind's objects; undefined: they can't be switched. */
export function switchOf({ routes: { put } }: Kind): WriteRoute | undefined {
  return put && flagsOf(put).some(({ field, of }) => field === FIELD && of === 'flag') ? put : undefined;
}

export const registerEnable: Register = (program, cli) => {
  const enable = program.command('enable').description('switch objects on that are disabled');
  registerAll(enable, cli, true);
  examples(
    enable,
    'realmctl enable user ana -r acme',
    'realmctl enable client billing reports -r acme',
    'realmctl enable messaging-provider EMAIL/smtp -r acme',
    '',
    'An object that is enabled already stays as it is.',
  );
};

export const registerDisable: Register = (program, cli) => {
  const disable = program.command('disable').description('switch objects off, and keep them: enable brings them back');
  registerAll(disable, cli, false);
  examples(
    disable,
    'realmctl disable user ana -r acme               # ends her sessions and tokens, too',
    'realmctl disable client billing reports -r acme',
    'realmctl disable identity-provider github -r acme',
    'realmctl disable webhook audit -r acme',
    '',
    'An object that is disabled already stays as it is. It asks nothing: enable undoes it, but sessions and tokens that',
    'have ended do not come back. A file that declares the field brings its value back when it is applied.',
  );
};

function registerAll(family: Command, cli: Cli, to: boolean): void {
  for (const kind of kinds) {
    const route = switchOf(kind);
    if (route) registerSwitch(family, kind, route, { cli, to });
  }
  family.on('command:*', ([word = '']: string[]) => refuseKind(family, word));
}

/** Refuses a kind without `enabled` as such; commander would only propose another kind. */
function refuseKind(family: Command, word: string): never {
  const kind = kinds.find(({ singular, plural }) => word === singular || word === plural);
  if (kind)
    throw new Refused(
      `${kind.plural} can’t be enabled or disabled`,
      kind.singular === 'agent'
        ? 'An agent is suspended instead: realmctl api POST realms/REALM/agents/ID/suspend'
        : `Kinds that can be: realmctl ${family.name()} --help`,
    );
  const meant = similarName(
    word,
    family.commands.flatMap((one) => [one.name(), ...one.aliases()]),
  );
  return family.error(`error: unknown command '${word}'${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}`);
}

function registerSwitch(family: Command, kind: Kind, route: WriteRoute, { cli, to }: { cli: Cli; to: boolean }): void {
  const command = commandOf(family, kind);
  command.argument('<name...>', `the ${kind.plural}`);
  if (kind.inRealm) addRealm(command);
  command.action(async () => {
    const [of, words] = apart(kind, command.args);
    const scope = await scopeOf(cli, kind, command.opts<{ realm?: string }>().realm, of);
    // find all objects before changing any
    const found = new Map<string, Found>();
    for (const word of words) {
      const one = await kind.find(scope, word, kind.managed ? { with: 'managedBy' } : {});
      found.set(one.name, one);
    }
    for (const one of found.values()) {
      const { name, value } = one;
      if (Reflect.get(value, FIELD) === to) {
        writeLine(cli.io, `The ${kind.singular} ${name} is ${wordOf(to)} already.`);
        continue;
      }
      const body = { ...(takesWhole(kind, route) && writable(route, value)), [FIELD]: to };
      await send(scope, route, { at: { ...(await kind.within(scope)), ...kind.at(value) }, body });
      writeLine(cli.io, `${to ? 'Enabled' : 'Disabled'} ${kind.singular} ${name}.`);
      const managers = managersOf(one);
      if (managers.length > 0)
        writeLine(
          cli.io,
          `It is managed by ${managers.join(', ')}: change ${FIELD} in its file, too, or place a hold (realmctl hold).`,
        );
    }
  });
}

const wordOf = (enabled: boolean): string => (enabled ? 'enabled' : 'disabled');

/** The managers that own the field; where the answer names no fields, those of the object. */
function managersOf({ value, managedBy }: Found): string[] {
  const named: unknown = Reflect.get(value, 'managedBy');
  if (!Array.isArray(named)) return managedBy;
  return named.flatMap(({ manager, fields }) =>
    Array.isArray(fields) && fields.includes(FIELD) ? [String(manager)] : [],
  );
}
