// A SIEM over HTTP: away until it is told otherwise, then it takes what comes and counts; and its own limit, by a sender that has
// nothing else to do.
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { answer } from '../processes.ts';

export type SiemAsk =
  | { do: 'listen'; cert: string; key: string }
  | { do: 'away' }
  | { do: 'back' }
  | { do: 'count' }
  | { do: 'limit'; seconds: number; ca: string };
export interface SiemTold {
  port: number;
  /** Events since it is back. */
  count: number;
  /** A second: from the first to the last of them, or of the limit. */
  rate: number;
}

let server: Server | undefined;
let away = true;
let [count, firstAt, lastAt] = [0, 0, 0];
let sample = '[]';
const portOf = (): number => {
  const at = server?.address() as AddressInfo | null | undefined;
  return at?.port ?? 0;
};

function listen(cert: string, key: string): Promise<void> {
  server = createServer({ cert, key }, (asked, response) => {
    if (away) {
      asked.resume().on('end', () => response.writeHead(503, { 'retry-after': '1' }).end());
      return;
    }
    firstAt ||= performance.now();
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const events: unknown[] = JSON.parse(text);
      count += events.length;
      if (events.length >= 500) sample = text;
      lastAt = performance.now();
      response.writeHead(204).end();
    });
  });
  return new Promise((resolve) => server?.listen(0, '127.0.0.1', resolve));
}

/** The batch that came last, again and again on one connection. */
async function limit(seconds: number, ca: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  const body = Buffer.from(sample);
  const events: unknown[] = JSON.parse(sample);
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      request({ host: '127.0.0.1', port: portOf(), method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', resolve);
      })
        .on('error', reject)
        .end(body);
    });
  const began = performance.now();
  let sent = 0;
  while (performance.now() < began + seconds * 1000) {
    await send();
    sent += events.length;
  }
  agent.destroy();
  return sent / ((performance.now() - began) / 1000);
}

answer<SiemAsk, SiemTold>(async (ask) => {
  if (ask.do === 'listen') await listen(ask.cert, ask.key);
  if (ask.do === 'away' || ask.do === 'back') [away, count, firstAt, lastAt] = [ask.do === 'away', 0, 0, 0];
  const rate = ask.do === 'limit' ? await limit(ask.seconds, ask.ca) : count / ((lastAt - firstAt) / 1000);
  return { port: portOf(), count, rate };
});
