// A realm document with 100,000 people in and out over HTTP, against PostgreSQL's own COPY of the same rows.
import postgres from 'postgres';
import { copyInto, copyOut } from '../../../server/db/bulk.ts';
import { copyRow } from '../../../server/db/copy.ts';
import { type Bench, type Case, number, type Result, resultOf, windows } from '../bench.ts';
import { residentMiB } from '../machine.ts';
import { signedIn, type Target } from '../target.ts';
import { second } from './start.ts';

const PEOPLE = 100_000;
const count = ({ quick }: Bench) => (quick ? PEOPLE / 5 : PEOPLE);

const person = (i: number) => ({
  username: `user-${String(i).padStart(7, '0')}`,
  email: `user-${i}@people.example`,
  emailVerified: true,
  firstName: `First ${i}`,
  lastName: `Last ${i}`,
  attributes: { department: [`d${i % 50}`], locale: ['en'] },
});

const uuid = (i: number): string => `0198a000-0000-7000-8000-${String(i).padStart(12, '0')}`;
const TABLE = 'bench_copy';

/** What psql's \copy would send: ready text in pieces of 256 KiB. */
function rowsOf(people: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (let i = 0; i < people; i += 1) {
    const { username, email, firstName, lastName, attributes } = person(i);
    const made = '2026-01-01T00:00:00Z';
    piece += copyRow(['master', uuid(i), username, email, true, firstName, lastName, JSON.stringify(attributes), made]);
    if (piece.length < 256 * 1024) continue;
    pieces.push(piece);
    piece = '';
  }
  return [...pieces, piece];
}

/** A table like realm_user with its indexes and its foreign key, emptied before each copy. */
async function copyIn({ databaseUrl }: Target, pieces: readonly string[], people: number): Promise<number> {
  await statement(databaseUrl, `truncate ${TABLE}`);
  const began = performance.now();
  const columns = 'realm_id, id, username, email, email_verified, first_name, last_name, attributes, created_at';
  const copy = await copyInto(databaseUrl, `${TABLE} (${columns})`);
  for (const piece of pieces) await copy.write(piece);
  await copy.finish();
  return people / ((performance.now() - began) / 1000);
}

async function statement(url: string, text: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(text);
  await sql.end();
}

async function importing(bench: Bench): Promise<Result> {
  const target = await bench.target();
  await spread(bench, target);
  const people = count(bench);
  const pieces = rowsOf(people);
  const document = Buffer.from(JSON.stringify({ users: Array.from({ length: people }, (_, i) => person(i)) }));
  await statement(target.databaseUrl, `drop table if exists ${TABLE}`);
  await statement(target.databaseUrl, `create table ${TABLE} (like realm_user including all)`);
  await statement(
    target.databaseUrl,
    `alter table ${TABLE} add foreign key (realm_id) references realm on delete cascade`,
  );
  let realms = 0;
  const one = async () => {
    const realm = `import-${realms}`;
    realms += 1;
    const began = performance.now();
    const answer = await target.admin(`/admin/realms/${realm}/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: document,
    });
    if (answer.status !== 200) throw new Error(`import: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
    const rate = people / ((performance.now() - began) / 1000);
    await statement(target.databaseUrl, 'checkpoint');
    return rate;
  };
  await one();
  const taken = await windows(Math.min(bench.rounds, 3), () => copyIn(target, pieces, people), one);
  return resultOf(
    taken,
    (ours, copy) =>
      `${number(ours)} users/s of ${number(copy)} by COPY; ${number(people)} users, ${number(document.length / 2 ** 20)} MiB`,
  );
}

/** What a server grows by at most while it imports, beside the document; one that has done nothing before. */
async function growing(bench: Bench): Promise<Result> {
  const target = await bench.target();
  await spread(bench, target);
  const people = count(bench);
  const document = Buffer.from(JSON.stringify({ users: Array.from({ length: people }, (_, i) => person(i)) }));
  const { baseUrl, env, program } = await second(bench, { ownAddress: true });
  const now = () => residentMiB(program.pid) ?? Number.NaN;
  let watch: NodeJS.Timeout | undefined;
  try {
    const admin = await signedIn(baseUrl, env.SVC_OPERATOR_CLIENT_SECRET ?? '');
    // the admin API itself is loaded when it is first asked for
    await (await admin('/admin/realms')).arrayBuffer();
    const before = now();
    let most = before;
    watch = setInterval(() => {
      most = Math.max(most, now());
    }, 20);
    const answer = await admin(`/admin/realms/growth-${program.pid}/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: document,
    });
    if (answer.status !== 200) throw new Error(`import: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
    const size = document.length / 2 ** 20;
    const figures = `${number(most - before)} MiB more than ${number(before)} MiB; ${number(people)} users, ${number(size)} MiB`;
    return { ratio: (most - before) / size, windows: 1, quietWindows: 1, figures };
  } finally {
    clearInterval(watch);
    await program.stop();
  }
}

/** The same people as JSON lines, made by PostgreSQL itself. */
const JSON_COPY = `select json_build_object('username', username, 'email', email, 'emailVerified', email_verified,
  'firstName', first_name, 'lastName', last_name, 'attributes', attributes,
  'createdAt', floor(extract(epoch from created_at) * 1000)::bigint) from realm_user where realm_id = 'export'`;

async function exporting(bench: Bench): Promise<Result> {
  const target = await bench.target();
  await spread(bench, target);
  const people = count(bench);
  const answer = await target.admin('/admin/realms/export/import', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ users: Array.from({ length: people }, (_, i) => person(i)) }),
  });
  if (answer.status !== 200) throw new Error(`import: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
  await statement(target.databaseUrl, 'vacuum analyze realm_user');
  const drained = async (stream: AsyncIterable<unknown>) => {
    for await (const _ of stream);
  };
  const rate = (began: number) => people / ((performance.now() - began) / 1000);
  const copy = async () => {
    const began = performance.now();
    await drained(await copyOut(target.databaseUrl, JSON_COPY));
    return rate(began);
  };
  const download = async () => {
    const began = performance.now();
    const { status, body } = await target.admin('/admin/realms/export/export');
    if (status !== 200 || !body) throw new Error(`export: ${status}`);
    await drained(body);
    return rate(began);
  };
  await copy();
  await download();
  const taken = await windows(bench.rounds, copy, download);
  return resultOf(
    taken,
    (ours, theirs) =>
      `${number(ours)} users/s of ${number(theirs)} by COPY of json_build_object; ${number(people)} users`,
  );
}

/** Compared with people whom the realm has, twice at the same moment, in two realms. */
async function importingBeside(bench: Bench): Promise<Result> {
  const target = await bench.target();
  await spread(bench, target);
  const people = count(bench);
  const body = JSON.stringify({ users: Array.from({ length: people }, (_, i) => person(i)) });
  const imported = async (realm: string, query = '') => {
    const answer = await target.admin(`/admin/realms/${realm}/import${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (answer.status !== 200) throw new Error(`import: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const realms = ['beside-one', 'beside-other'];
  for (const realm of realms) await imported(realm);
  const seconds = async (of: readonly string[]) => {
    const began = performance.now();
    await Promise.all(of.map((realm) => imported(realm, '?dryRun=true')));
    return (performance.now() - began) / 1000;
  };
  const one = () => seconds(realms.slice(0, 1));
  await one();
  const taken = await windows(Math.min(bench.rounds, 3), one, () => seconds(realms));
  return resultOf(
    taken,
    (two, alone) => `${number(two)} s for two, ${number(alone)} s for one; dry runs of ${number(people)} users`,
  );
}

async function spread(bench: Bench, { serverPid, postgresPid }: Target): Promise<void> {
  await bench.pin(serverPid, undefined);
  await bench.pin(postgresPid, undefined);
}

export const transferCases: Case[] = [
  {
    name: 'import',
    title: "import of 100,000 people / PostgreSQL's COPY of the same rows",
    goal: { atLeast: 0.77 },
    run: importing,
  },
  {
    name: 'import-beside',
    title: 'two imports of 100,000 people beside each other / one',
    goal: { atMost: 2.2 },
    run: importingBeside,
  },
  {
    name: 'import-memory',
    title: 'growth of resident memory by an import of 100,000 people / the document',
    goal: { atMost: 10 },
    run: growing,
  },
  {
    name: 'export',
    title: "export of 100,000 people / PostgreSQL's COPY of the same JSON",
    goal: { atLeast: 0.65 },
    run: exporting,
  },
];
