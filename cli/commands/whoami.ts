// `realmctl whoami`: the signed-in user and their permissions.
import { getAdminSession } from '../../server/contract/admin-access.ts';
import { examples, type Register } from '../command.ts';
import { addOutput, type Format, print } from '../output.ts';

export const registerWhoami: Register = (program, cli) => {
  const command = program.command('whoami').description('who is signed in, and what they may do');
  examples(addOutput(command, { names: true }), 'realmctl whoami', 'realmctl whoami -o json | jq .permissions').action(
    async ({ output }: { output: Format }) => {
      const { client, server } = await cli.connect();
      const { body } = await client.call(getAdminSession, { signal: cli.signal });
      if (!body) return;
      const permissions = Object.entries(body.permissions);
      print(cli.io, output, {
        value: { server, ...body },
        names: () => [body.name],
        table: () => ({
          head: ['SERVER', 'NAME', 'TYPE', 'REALM', 'MAY'],
          rows: [
            [
              server,
              body.name,
              body.type,
              body.realm,
              permissions
                .map(([realm, list]) => `${list.length} permissions over ${realm === '*' ? 'every realm' : realm}`)
                .join(', ') || 'nothing',
            ],
          ],
        }),
      });
    },
  );
};
