// An application's server that takes logout tokens, all of them, and counts.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { answer } from '../processes.ts';

export type ReceiverAsk = { do: 'listen'; cert: string; key: string } | { do: 'count' } | { do: 'forget' };
export interface ReceiverTold {
  port: number;
  count: number;
}

let server: Server | undefined;
let count = 0;
const told = (): ReceiverTold => {
  const at = server?.address() as AddressInfo | null | undefined;
  return { port: at?.port ?? 0, count };
};

answer<ReceiverAsk, ReceiverTold>(async (ask) => {
  if (ask.do === 'forget') count = 0;
  if (ask.do === 'listen') {
    server = createServer({ cert: ask.cert, key: ask.key }, (request, response) => {
      request.resume().on('end', () => {
        count += 1;
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  }
  return told();
});
