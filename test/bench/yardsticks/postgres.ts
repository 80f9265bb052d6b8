// The limit of what is written and looked up one by one: PostgreSQL alone, by as many connections as the server has, each statement
// prepared and a transaction of its own.
import pg from 'pg';
import { answer } from '../processes.ts';

export type PostgresAsk =
  | { do: 'connect'; url: string; connections: number }
  | { do: 'run'; seconds: number; name: string; text: string };

let clients: pg.Client[] = [];
let turn = 0;

/** `$1` is a number that no other statement has had. */
async function run({ seconds, name, text }: { seconds: number; name: string; text: string }): Promise<number> {
  const began = performance.now();
  const until = began + seconds * 1000;
  let count = 0;
  const again = async (client: pg.Client) => {
    while (performance.now() < until) {
      turn += 1;
      await client.query({ name, text, values: [turn] });
      count += 1;
    }
  };
  await Promise.all(clients.map(again));
  return count / ((performance.now() - began) / 1000);
}

answer<PostgresAsk, number>(async (ask) => {
  if (ask.do === 'run') return run(ask);
  clients = Array.from({ length: ask.connections }, () => new pg.Client({ connectionString: ask.url }));
  await Promise.all(clients.map((client) => client.connect()));
  return clients.length;
});
