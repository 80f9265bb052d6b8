// `realmctl retry`: what the server gave up is tried again: a message, a webhook's delivery, an application's logout.
import type { Command } from 'commander';
import { retryMessage } from '../../server/contract/messages.ts';
import { retryLogout } from '../../server/contract/sessions.ts';
import { redeliver } from '../../server/contract/webhooks.ts';
import { addRealm, examples, type Register, realmOf } from '../command.ts';
import { idIn } from '../declared-kinds.ts';
import { plain, writeLine } from '../output.ts';

interface Options {
  realm?: string;
}

export const registerRetry: Register = (program, cli) => {
  const retry = program.command('retry').description('try again what the server gave up');
  const begin = async ({ realm: option }: Options) => {
    const realm = await realmOf(cli, { option });
    const connection = await cli.connect();
    return { realm, connection, client: connection.client, signal: cli.signal };
  };
  const of = (command: Command) => addRealm(command);

  of(retry.command('message'))
    .argument('<id>', 'the message, as get messages -o wide lists it')
    .description('send a message that was given up again, unless it has expired, and with it its code or link')
    .action(async (id: string, options: Options) => {
      const { client, realm, signal } = await begin(options);
      const { body } = await client.call(retryMessage, { params: { realm, id }, signal });
      writeLine(cli.io, `The message to ${plain(body?.recipient ?? id)} is sent again.`);
    });
  of(retry.command('delivery'))
    .argument('<webhook>', 'its webhook')
    .argument('<id>', 'the delivery, as get deliveries -o wide lists it')
    .description('send a delivery of a webhook again, with the same id')
    .action(async (webhook: string, deliveryId: string, options: Options) => {
      const { client, connection, realm, signal } = await begin(options);
      const id = await idIn('webhooks')({ connection, realm, signal, of: webhook });
      const { body } = await client.call(redeliver, { params: { realm, id, deliveryId }, signal });
      writeLine(cli.io, `${plain(body?.eventType ?? 'The delivery')} is sent to ${plain(webhook)} again.`);
    });
  of(retry.command('logout'))
    .argument('<event>', 'the id of the event BACKCHANNEL_LOGOUT_FAILED')
    .description('tell an application again of a logout')
    .action(async (id: string, options: Options) => {
      const { client, realm, signal } = await begin(options);
      const { body } = await client.call(retryLogout, { params: { realm, id }, signal });
      writeLine(cli.io, `The application ${plain(body?.clientId ?? '')} is told of the logout again.`);
    });
  examples(
    retry,
    'realmctl get messages -r acme --status dead -o wide',
    'realmctl retry message 0198c5a0-1c1e-7d4a-9b43-0c9bd3d4f5a6 -r acme',
    'realmctl retry delivery audit 0198c5a0-1c1e-7d4a-9b43-0c9bd3d4f5a6 -r acme',
    'realmctl get events -r acme --type BACKCHANNEL_LOGOUT_FAILED -o name | xargs -n1 realmctl retry logout -r acme',
  );
};
