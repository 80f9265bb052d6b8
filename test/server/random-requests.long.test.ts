// Owns: an administrator's program that sends every endpoint of the admin API whatever its schema takes, and what it doesn't: each
// answer is one that the OpenAPI document names, and within its schema; none is a failure of the server.
// Does not own: what the endpoints do (features/), that the document is the contract's (guards/openapi.test.ts).
// Implements: specification 4; decisions "Errors".
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fullRealm } from '../support/full-realm.ts';
import { createRandom, createValues, type Schema } from '../support/random-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

const SEED = Number(process.env.TEST_SEED ?? 20_260_101);
/** For each operation. */
const TRIES = Number(process.env.TEST_TRIES ?? 80);
const REALM = 'random';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}
interface Answer {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, Answer>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Answer> };
}

/** They end what the others need: the administrator's session, the realm. */
const apart = new Set(['adminLogin', 'adminLogout', 'deleteRealm', 'stepUpAdminSession']);

/** Where the ids of these parameters come from, below something else. */
const places: Record<string, string> = {
  userId: 'users',
  roleId: 'roles',
  claimId: 'claims',
  scopeId: 'client-scopes',
};

let server: TestServer;
let admin: Importer;
let document: Document;
const lines: string[] = [];
beforeAll(async () => {
  server = await startTestServer({ lines });
  admin = await importer(server);
  await admin.apply(REALM, fullRealm());
  document = JSON.parse(await (await admin.fetch('/v3/api-docs')).text());
});
afterAll(() => server?.stop());

test('whatever an administrator sends, the answer is one that the document names', async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false });
  formats.default(ajv);
  ajv.addSchema({ $id: 'api', ...document });
  const checks = new Map<string, ReturnType<typeof ajv.compile>>();
  const within = (pointer: string) => {
    const known = checks.get(pointer);
    if (known) return known;
    const made = ajv.compile({ $ref: `api#${pointer}` });
    checks.set(pointer, made);
    return made;
  };
  const random = createRandom(SEED);
  const known: string[] = ['admin', REALM];
  const values = createValues(random, (ref) => document.components.schemas[ref.split('/').at(-1) ?? ''] ?? {}, known);
  const faults = new Map<string, string>();
  let sent = 0;
  /** Operations that were carried out at least once. */
  const done = new Set<string>();
  /** What lists had, by their address: whose ids the paths below them take. */
  const listed = new Map<string, Record<string, unknown>[]>();

  function learn(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [field, one] of Object.entries(value)) {
      if (typeof one === 'object') learn(one);
      else if (
        /^(id|name|alias|clientId|username|path|entityId|.*Id)$/.test(field) &&
        typeof one === 'string' &&
        one.length < 200
      )
        if (known.length < 2000 && !known.includes(one)) known.push(one);
    }
  }

  async function tryOnce(at: string, method: string, operation: Operation): Promise<void> {
    const spoil = random.chance(0.5);
    const query = new URLSearchParams();
    let target = at;
    for (const { name, in: where, required, schema } of operation.parameters ?? []) {
      const place = places[name] ? `/admin/realms/${REALM}/${places[name]}` : '';
      const above = where === 'path' ? target.slice(0, target.indexOf(`/{${name}}`)) : '';
      const there = where === 'path' ? random.pick(listed.get(above) ?? listed.get(place) ?? []) : undefined;
      const own = schema.format === 'uuid' ? there?.id : (there?.[name] ?? there?.id);
      const sound = name === 'realm' ? REALM : own !== undefined && random.chance(0.9) ? own : values.fits(schema);
      const value = random.chance(spoil ? 0.1 : 0) ? values.odd() : sound;
      if (where === 'path') target = target.replace(`{${name}}`, encodeURIComponent(wellFormed(String(value)) || 'x'));
      else if (where === 'query' && (required || random.chance(0.3))) query.set(name, String(value));
    }
    const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    const init: RequestInit = { method: method.toUpperCase(), headers: {} };
    if (type !== undefined && content && !random.chance(0.03)) {
      const base = content.example !== undefined && random.chance(0.5) ? content.example : values.fits(content.schema);
      init.body = JSON.stringify(spoil ? values.spoiled(base) : base);
      init.headers = { 'content-type': type };
    }
    const url = `${target}${query.size > 0 ? `?${query}` : ''}`;
    const response = await admin.fetch(url, init);
    const text = await response.text();
    if (method === 'get' && response.status === 200 && text.startsWith('[')) listed.set(target, JSON.parse(text));
    sent += 1;
    if (response.status < 300) done.add(operation.operationId);
    const fault = judge(at, method, operation, response, text);
    if (fault === undefined) return;
    const asked = `${init.method} ${url} ${String(init.body ?? '').slice(0, 1000)}`;
    faults.set(`${method} ${at}: ${fault}`, `${asked}\n  → ${response.status} ${text.slice(0, 500)}`);
  }

  function judge(
    at: string,
    method: string,
    { responses }: Operation,
    response: Response,
    text: string,
  ): string | undefined {
    const { status } = response;
    if (status >= 500 && status !== 503) return `failed with ${status}`;
    // A flood is refused everywhere.
    const named = responses[status] ? String(status) : status === 429 || status === 503 ? 'default' : undefined;
    if (named === undefined || !responses[named]) return `answered ${status}, which it doesn’t name`;
    const { $ref, content } = responses[named];
    const types = $ref ? document.components.responses[$ref.split('/').at(-1) ?? '']?.content : content;
    if (!types) return text === '' ? undefined : `answered ${status} with a body`;
    const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (!types[type]) return `answered ${status} as ${type}`;
    if (!type.includes('json')) return undefined;
    const body: unknown = JSON.parse(text);
    if (status < 300) learn(body);
    const escaped = (word: string) => encodeURIComponent(word.replaceAll('~', '~0').replaceAll('/', '~1'));
    const where = $ref ? $ref.slice(1) : `/paths/${escaped(at)}/${method}/responses/${named}`;
    const check = within(`${where}/content/${escaped(type)}/schema`);
    return check(body) ? undefined : `answered ${status} outside its schema: ${ajv.errorsText(check.errors)}`;
  }

  const operations = Object.entries(document.paths)
    .filter(([at]) => at.startsWith('/admin'))
    .flatMap(([at, methods]) => Object.entries(methods).map(([method, operation]) => ({ at, method, operation })))
    .filter(({ operation }) => !apart.has(operation.operationId));
  expect(operations.length).toBeGreaterThan(150);
  for (let round = 0; round < TRIES; round += 1) {
    for (const { at, method, operation } of operations) await tryOnce(at, method, operation);
    // Whoever was deleted, disabled or drowned in rubbish is there again for the next round.
    if (round % 3 === 2)
      await admin.fetch(`/admin/realms/${REALM}/import?force=true`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fullRealm()),
      });
  }
  expect(sent).toBe(TRIES * operations.length);
  // Else it would be about refusals alone.
  if (TRIES > 10) expect(done.size).toBeGreaterThan(operations.length / 2);
  expect([...faults].map(([fault, example]) => `${fault}\n  ${example}`).join('\n\n')).toBe('');
}, 7_200_000);

const wellFormed = (text: string): string => text.toWellFormed();
