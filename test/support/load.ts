// Owns: steady use of a realm by several servers at once: tokens, sign-ins, writes, imports, deliveries; what they acknowledged.
// Does not own: what disturbs them (patroni.ts), what is expected of the answers (the test).
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createUser } from '../../server/contract/users.ts';
import { createWebhook } from '../../server/contract/webhooks.ts';
import { PASSWORD } from './applications.ts';
import { basic, SECRET } from './clients.ts';
import { createPerson } from './person.ts';
import type { Receiver } from './receiver.ts';
import { ADMIN_PASSWORD } from './server.ts';
import type { ServerProcess } from './server-process.ts';
import { adminSession } from './signed-in.ts';

export const REALM = 'busy';
export const kinds = ['token', 'introspection', 'signIn', 'write', 'import'] as const;
export type Kind = (typeof kinds)[number];

export interface Attempt {
  kind: Kind;
  server: number;
  began: number;
  ended: number;
  /** 0: there was no answer. */
  status: number;
  retryAfter: string | null;
  /** Of an answer that is not good. */
  text: string;
}

interface Said {
  status: number;
  headers: Headers;
  text: string;
}
const said = async (response: Response): Promise<Said> => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
});

/** Between two requests of one kind at one server. */
const PAUSE_MS = 100;
const IMPORTED = 20;

export async function startLoad(servers: readonly ServerProcess[], receiver: Receiver) {
  const [first] = servers;
  if (!first) throw new Error('no server');
  const params = { realm: REALM };
  await first.admin.call(createRealm, { body: { realm: REALM } });
  await first.admin.call(createClient, {
    params,
    body: { clientId: 'robot', secret: SECRET, grantTypes: ['client_credentials'] },
  });
  await first.admin.call(createUser, { params, body: { username: 'ada', password: PASSWORD } });
  const hook = { name: 'hook', url: `${receiver.url}/in`, eventTypes: 'USER_CREATED', enabled: true };
  await first.admin.call(createWebhook, { params, body: hook });

  const attempts: Attempt[] = [];
  /** User names that a server has said to be stored. */
  const acknowledged = { written: new Set<string>(), imported: new Set<string>() };
  let stopped = false;

  async function repeat(kind: Kind, server: number, once: () => Promise<Said>): Promise<void> {
    while (!stopped) {
      const began = Date.now();
      const { status, headers, text } = await once().catch((error: Error) => ({
        status: 0,
        headers: new Headers(),
        text: `${error.message} ${error.cause}`,
      }));
      const retryAfter = headers.get('retry-after');
      attempts.push({ kind, server, began, ended: Date.now(), status, retryAfter, text: status < 400 ? '' : text });
      await sleep(PAUSE_MS);
    }
  }

  async function useOf({ inside }: ServerProcess, index: number): Promise<void> {
    const session = await adminSession(inside, { username: 'admin', password: ADMIN_PASSWORD });
    const json = { 'content-type': 'application/json' };
    const send = async (path: string, body: object) =>
      said(await session.fetch(`${inside}${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) }));
    const form = async (endpoint: string, fields: Record<string, string>) =>
      said(
        await fetch(`${inside}/realms/${REALM}/oauth2/${endpoint}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: basic('robot') },
          body: new URLSearchParams(fields),
        }),
      );
    let token = '';
    let [written, imported] = [0, 0];
    await Promise.all([
      repeat('token', index, async () => {
        const answer = await form('token', { grant_type: 'client_credentials' });
        if (answer.status === 200) token = JSON.parse(answer.text).access_token;
        return answer;
      }),
      repeat('introspection', index, async () => {
        while (token === '') await sleep(PAUSE_MS);
        const answer = await form('introspect', { token });
        if (answer.status !== 200 || JSON.parse(answer.text).active === true) return answer;
        return { ...answer, status: 599, text: `a good token was called inactive: ${answer.text}` };
      }),
      repeat('signIn', index, async () => {
        const person = createPerson(inside);
        const page = await person.open(`/realms/${REALM}/login?for=account`);
        if (page.status !== 200) return page;
        return person.fill(page, { username: 'ada', password: PASSWORD });
      }),
      repeat('write', index, async () => {
        const username = `written-${index}-${written}`;
        const answer = await send(`/admin/realms/${REALM}/users`, { username });
        // After an answer that was none the user may be there.
        if (answer.status !== 201 && !(answer.status === 409 && answer.text.includes('name-taken'))) return answer;
        acknowledged.written.add(username);
        written += 1;
        return { ...answer, status: 201 };
      }),
      repeat('import', index, async () => {
        const users = Array.from({ length: IMPORTED }, (_, n) => ({ username: `imported-${index}-${imported}-${n}` }));
        const answer = await send(`/admin/realms/${REALM}/import?manager=load-${index}`, { users });
        if (answer.status !== 200) return answer;
        for (const { username } of users) acknowledged.imported.add(username);
        imported += 1;
        return answer;
      }),
    ]);
  }

  const running = Promise.all(servers.map(useOf));
  running.catch(() => {});
  const isGood = ({ status }: Attempt) => status >= 200 && status < 300;
  return {
    attempts,
    acknowledged,
    isGood,
    /** Each kind has got three good answers in a row from each server, to requests that were sent since then. */
    async goodSince(moment: number): Promise<void> {
      for (;;) {
        const fine = servers.every((_, server) =>
          kinds.every((kind) => {
            const last = attempts
              .filter((one) => one.kind === kind && one.server === server && one.began >= moment)
              .slice(-3);
            return last.length === 3 && last.every(isGood);
          }),
        );
        if (fine) return;
        await sleep(PAUSE_MS);
      }
    },
    async stop(): Promise<void> {
      stopped = true;
      await running;
    },
  };
}
export type Load = Awaited<ReturnType<typeof startLoad>>;
