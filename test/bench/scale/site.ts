// Owns: a small and a large installation on one PostgreSQL, each with a built server of its own.
// Does not own: the rows (fill.ts), what is measured (cases.ts).
// Implements: `npm run bench:scale`: both sizes on the same machine in the same minutes.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { startPostgres } from '../../../server/db/embedded.ts';
import { connectedCluster, onDatabase } from '../../support/cluster.ts';
import { benchFolder } from '../folder.ts';
import { type Program, startProgram } from '../processes.ts';
import type { BenchRealm } from '../steps.ts';
import {
  freePort,
  newRealm,
  peopleAndClientsOf,
  serverEnvironment,
  serverFile,
  signedIn,
  type Target,
} from '../target.ts';
import { fill, GROWN_REALM, type Size, TEMPLATE } from './fill.ts';

/** One of the two installations. */
export interface Side {
  name: 'small' | 'large';
  size: Size;
  port: number;
  baseUrl: string;
  databaseUrl: string;
  env: Record<string, string>;
  server: Program;
  realm: BenchRealm;
  admin: Target['admin'];
  /** A request to the grown realm's SCIM server. */
  scim: Target['admin'];
}

export interface Site {
  small: Side;
  large: Side;
  stop(): Promise<void>;
}

const SERVICES = 4;
const USERS = 20;
/** As an installation of this size has: the indexes that requests read stay in memory. */
const SETTINGS = { shared_buffers: '2GB', maintenance_work_mem: '512MB', max_wal_size: '8GB' };

/** @param keep a folder that outlives the run; the installations in it are taken as they are */
export async function startSite(
  sizes: Record<Side['name'], Size>,
  { say, keep }: { say(line: string): void; keep: string | undefined },
): Promise<Site> {
  const dir = keep ?? (await benchFolder());
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
    if (keep === undefined) await rm(dir, { recursive: true, force: true });
  };
  try {
    const options = { dir: path.join(dir, 'postgres'), log: say };
    const first = await startPostgres(options);
    await connectedCluster(first.url, async (client) => {
      for (const [name, value] of Object.entries(SETTINGS)) await client.query(`alter system set ${name} = '${value}'`);
    }).finally(first.stop);
    const postgres = await startPostgres(options);
    stops.push(postgres.stop);
    const side = async (name: Side['name']) => {
      const made = await startSide(name, { size: sizes[name], postgresUrl: postgres.url, say });
      stops.push(() => made.server.stop());
      return made;
    };
    return { small: await side('small'), large: await side('large'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Making {
  size: Size;
  postgresUrl: string;
  say(line: string): void;
}

async function startSide(name: Side['name'], { size, postgresUrl, say }: Making): Promise<Side> {
  const databaseUrl = onDatabase(postgresUrl, name);
  const isThere = await connectedCluster(postgresUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${name}`);
    return rowCount !== 0;
  });
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const secretOf = (what: string) => createHash('sha256').update(`bench ${what}`).digest('base64url');
  const env = serverEnvironment({ databaseUrl, port, baseUrl, operatorSecret: secretOf('operator') });
  const realm: BenchRealm = { ...(await newRealm({ clients: SERVICES, users: USERS })), secret: secretOf('clients') };
  const start = () => startProgram([serverFile], { env, ready: 'listens on' });
  if (!isThere) {
    say(`making the ${name} installation …`);
    const maker = await start();
    try {
      const admin = await signedIn(baseUrl, env.SVC_OPERATOR_CLIENT_SECRET);
      // the same in both installations
      const document = { ...peopleAndClientsOf(realm), groups: [{ path: '/everyone' }] };
      await ask(admin, `/admin/realms/${TEMPLATE}/import`, document);
      await ask(admin, `/admin/realms/${GROWN_REALM}/import`, document);
    } finally {
      await maker.stop();
    }
    await fill({ url: databaseUrl, masterKey: env.SVC_MASTER_KEY }, size, say);
  }
  const server = await start();
  const admin = await signedIn(baseUrl, env.SVC_OPERATOR_CLIENT_SECRET);
  const made = await ask(admin, `/admin/realms/${GROWN_REALM}/scim-tokens`, {
    name: `bench ${Date.now()}`,
    permissions: ['read', 'write'],
  });
  const { token }: { token: string } = JSON.parse(made);
  const scim: Side['scim'] = (at, init = {}) =>
    fetch(`${baseUrl}/realms/${GROWN_REALM}/scim/v2${at}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    });
  return { name, size, port, baseUrl, databaseUrl, env, server, realm, admin, scim };
}

async function ask(admin: Target['admin'], at: string, body: object): Promise<string> {
  const answer = await admin(at, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${at}: ${answer.status} ${text}`);
  return text;
}
