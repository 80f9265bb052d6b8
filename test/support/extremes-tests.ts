// Owns: the tests that send each field of each operation its extremes, in a realm that has one of each thing.
// Does not own: the values (extremes.ts), how many of them are tried at each place (extremes.test.ts, extremes.long.test.ts).
// Implements: decisions "Errors": no input makes the server fail.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  basesOf,
  jsonWithValueAt,
  type Path,
  type Place,
  placesIn,
  placesLacking,
  Raw,
  sampleOf,
  texts,
  typesOf,
} from './extremes.ts';
import { extremesCallers, PEOPLE } from './extremes-callers.ts';
import { fullRealm } from './full-realm.ts';
import { type Ids, oneOfEach, validBodies } from './one-of-each.ts';
import type { Schema } from './random-requests.ts';
import { startTestServer, type TestServer } from './server.ts';
import { type Importer, importer } from './transfer.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
}
interface Target extends Operation {
  at: string;
  method: string;
}
interface Attempt {
  /** Where the extreme is, for a fault's name. */
  what: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
}
type Send = (attempt: Attempt) => Promise<Response>;

const REALM = 'extremes';
/** They end what the others need: the session, the realm. */
const apart = new Set(['adminLogin', 'adminLogout', 'deleteRealm', 'stepUpAdminSession', 'deleteAccount']);
/** Of values that stand in an address or a header: no proxy passes longer ones on. */
const LONGEST = 6000;
const AT_ONCE = 4;
const THREE_HOURS = 10_800_000;

export function extremesTests(count: number): void {
  let server: TestServer;
  let admin: Importer;
  let ids: Ids;
  let targets: Target[];
  let resolve: (ref: string) => Schema;
  const lines: string[] = [];
  let turn = 0;

  beforeAll(async () => {
    server = await startTestServer({ lines, env: { USER_REGISTRATION_ENABLED: 'true' } });
    admin = await importer(server);
    ids = await oneOfEach(server, REALM);
    const document = JSON.parse(await (await admin.fetch('/v3/api-docs')).text());
    resolve = (ref) => document.components.schemas[ref.split('/').at(-1) ?? ''] ?? {};
    targets = Object.entries<Record<string, Operation>>(document.paths).flatMap(([at, methods]) =>
      Object.entries(methods)
        .filter(([, { operationId }]) => !apart.has(operationId))
        .map(([method, operation]) => ({ ...operation, at, method: method.toUpperCase() })),
    );
  });
  afterAll(() => server?.stop());

  const next = <T>(values: readonly T[]): T[] => sampleOf(values, count, turn++);
  const areaOf = (at: string): string => at.split('/').filter((word) => /^[a-z]/.test(word))[2] ?? '';
  const inPath = (value: unknown): string =>
    encodeURIComponent(String(value).toWellFormed().slice(0, LONGEST)) || '%00';

  function addressOf({ at }: Target, odd: Record<string, unknown> = {}): string {
    const known: Record<string, string> = { ...ids[areaOf(at)], realm: REALM };
    return at.replace(/\{(\w+)\}/g, (_, name: string) => inPath(odd[name] ?? known[name] ?? known.id ?? 'x'));
  }
  const baseOf = ({ at, method, requestBody }: Target): [type: string, base: unknown, schema: Schema] | undefined => {
    const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    if (type === undefined || !content) return undefined;
    const words = at.split('/').filter((word) => /^[a-z]/.test(word));
    return [type, validBodies[[method, ...words.slice(2)].join(' ')] ?? content.example ?? {}, content.schema];
  };
  const asForm = (base: unknown, [key]: Path, value: unknown): string =>
    new URLSearchParams([
      ...Object.entries(Object(base)).flatMap(([name, one]): [string, string][] =>
        name === key ? [] : [[name, String(one)]],
      ),
      ...[value].flat().map((one): [string, string] => [String(key), String(one).toWellFormed()]),
    ]).toString();

  function attemptsOn(target: Target): Attempt[] {
    const { method, parameters = [] } = target;
    const [type, base, schema] = baseOf(target) ?? [];
    const usual = { method, url: addressOf(target), headers: type === undefined ? {} : { 'content-type': type } };
    const body = type === undefined || type.includes('form') ? undefined : JSON.stringify(base);
    const bases = schema && type?.includes('form') ? basesOf(schema, base, resolve) : [base];
    const inBody = bases.flatMap((from) => {
      const places: Place[] = schema ? [...placesIn(from), ...placesLacking(schema, from, resolve)] : [];
      return places.flatMap(({ path, values }) =>
        next(values).map((value) => ({
          ...usual,
          what: `body ${path.join('.')}`,
          body: type?.includes('form') ? asForm(from, path, value) : jsonWithValueAt(from, path, value),
        })),
      );
    });
    const around = parameters.flatMap(({ name, in: where, schema: of }) => {
      const values = next([...(typesOf(of, resolve).some((t) => t !== 'string') ? numberTexts : []), ...addressTexts]);
      return values.map((value): Attempt => {
        const what = `${where} ${name}`;
        const short = String(value).toWellFormed().slice(0, LONGEST);
        if (where === 'path') return { ...usual, what, url: addressOf(target, { [name]: value }), body };
        if (where === 'query')
          return { ...usual, what, url: `${usual.url}?${new URLSearchParams({ [name]: short })}`, body };
        return { ...usual, what, headers: { ...usual.headers, [name]: inHeader(short) }, body };
      });
    });
    const conditions = method === 'GET' || method === 'DELETE' ? [] : next(['*,"x"', '"'.repeat(4000), 'W/', '']);
    return [
      ...inBody,
      ...around,
      ...conditions.map((value) => ({
        ...usual,
        what: 'If-Match',
        headers: { ...usual.headers, 'if-match': value },
        body,
      })),
    ];
  }

  /** Every accepted object can be read. */
  const reads = (of: readonly Target[]): Attempt[] =>
    of
      .filter(({ method }) => method === 'GET')
      .map((target) => ({ what: 'read', method: 'GET', url: addressOf(target), headers: {} }));

  /** The attempts of one operation at a time: some are a megabyte long. Deletions come last. */
  function* all(of: readonly Target[]): Generator<Attempt> {
    for (const target of of) if (target.method !== 'DELETE') yield* attemptsOn(target);
    yield* reads(of);
    for (const target of of) if (target.method === 'DELETE') yield* attemptsOn(target);
  }

  /** @returns how each one failed that did; each answer was one */
  async function failuresOf(attempts: Generator<Attempt>, send: Send): Promise<string[]> {
    const failed: string[] = [];
    const tally = new Map<number, number>();
    const work = async () => {
      for (const one of attempts) {
        const { status, text } = await answerTo(send, one);
        tally.set(status, (tally.get(status) ?? 0) + 1);
        if (status < 500) continue;
        failed.push(
          `${one.method} ${one.url.slice(0, 200)} ${one.what} ${shown(one.body ?? '')} → ${status} ${text.slice(0, 300)}`,
        );
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (process.env.TEST_TALLY) console.log(Object.fromEntries(tally));
    // A request that the rate limit refuses proves nothing.
    const sent = [...tally.values()].reduce((sum, some) => sum + some, 0);
    expect((tally.get(429) ?? 0) / sent).toBeLessThan(0.2);
    return failed;
  }

  test(
    'no field of the admin API makes the server fail',
    async () => {
      const mine = targets.filter(({ at }) => at.startsWith('/admin'));
      expect(mine.length).toBeGreaterThan(200);
      const send: Send = ({ method, url, headers, body }) =>
        admin.fetch(url, { method, headers, ...(body !== undefined && { body }) });
      expect(report(await failuresOf(all(mine), send), lines)).toBe('');
    },
    THREE_HOURS,
  );

  test(
    'no field of the account API, of SCIM and of the protocol endpoints makes the server fail',
    async () => {
      const { headersFor, ids: known } = await extremesCallers(server);
      ids = { ...ids, ...known };
      const send: Send = ({ method, url, headers, body }) =>
        fetch(server.baseUrl + url.replace(`/realms/${REALM}`, `/realms/${PEOPLE}`), {
          method,
          headers: { ...headersFor(url), ...headers },
          redirect: 'manual',
          ...(body !== undefined && { body }),
        });
      const theirs = targets.filter(({ at }) => !at.startsWith('/admin'));
      expect(theirs.length).toBeGreaterThan(80);
      expect(report(await failuresOf(all(theirs), send), lines)).toBe('');
    },
    THREE_HOURS,
  );

  test(
    'the dry run of an import and the import agree on each field of each section',
    async () => {
      const whole = fullRealm();
      await admin.apply('sections', whole);
      const differing: string[] = [];
      let sent = 0;
      for (const [section, value] of Object.entries(whole))
        for (const { path, values } of placesOf(section, value))
          for (const odd of next(values)) {
            const body = jsonWithValueAt({ [section]: value }, path, odd);
            // with a manager's name: by hand nothing changes that is declared only
            const url = '/admin/realms/sections/import?force=true&manager=odd';
            const ask = (query: string): Attempt => ({
              what: path.join('.'),
              method: 'POST',
              url: url + query,
              headers: { 'content-type': 'application/json' },
              body,
            });
            const send: Send = (one) =>
              admin.fetch(one.url, {
                method: one.method,
                headers: one.headers,
                ...(one.body !== undefined && { body: one.body }),
              });
            const dry = await answerTo(send, ask('&dryRun=true'));
            const applied = await answerTo(send, ask(''));
            sent += 1;
            const same =
              dry.status === applied.status && (dry.status < 400 || errorsIn(dry.text) === errorsIn(applied.text));
            if (same && dry.status < 500 && applied.status < 500) continue;
            differing.push(
              `${path.join('.')} ${shown(JSON.stringify(odd instanceof Raw ? odd.text : odd))} → dry run ${dry.status} ${dry.text.slice(0, 250)}, import ${applied.status} ${applied.text.slice(0, 250)}`,
            );
          }
      expect(sent).toBeGreaterThan(300);
      expect(report(differing, lines)).toBe('');
    },
    THREE_HOURS,
  );
}

/** Places of a section, each once: what every object of it has alike is tried in the first that has it. */
function placesOf(section: string, value: unknown): Place[] {
  const all = Array.isArray(value)
    ? value.flatMap((one, i) => placesIn(one, [section, i]))
    : placesIn(value, [section]);
  const seen = new Set<string>();
  return all.filter(({ path }) => {
    const pattern = path.map((part) => (typeof part === 'number' ? '[]' : part)).join('.');
    if (seen.has(pattern)) return false;
    seen.add(pattern);
    return true;
  });
}

const numberTexts: readonly unknown[] = [
  ...[2 ** 53, 2 ** 31, '1e21', -1, 253_402_300_800_000, 8.64e15 + 1, 2 ** 53 - 1, 2 ** 63, 0, 1001, 0.5],
  ...['NaN', 'Infinity', '-0', '1e400', '0x10', ' 1', '９'],
];
const addressTexts: readonly unknown[] = [
  ...texts.filter((one) => String(one).length < 20_000),
  ...[cursor(['a']), cursor(['a\0', 'b']), cursor(['9'.repeat(30), 'b']), cursor([1, null]), cursor(['-1', '-1'])],
  ...[cursor(['8640000000000000', '018f6d1e-7a3b-7c4d-8e5f-6a7b8c9d0e1f']), cursor(['9223372036854775808'])],
  ...[
    cursor(['253402300800000', '018f6d1e-7a3b-7c4d-8e5f-6a7b8c9d0e1f']),
    cursor(['\ud800']),
    cursor(['2147483648', 'x']),
  ],
];

function cursor(parts: unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}
/** The value reduced to characters that a client can send in a header. */
const inHeader = (value: string): string => value.replaceAll(/[^\x20-\x7e]/g, '?').trim();
const shown = (text: string): string =>
  text.length > 400 ? `${text.slice(0, 200)} … ${text.slice(-100)} (${text.length})` : text;

async function answerTo(send: Send, attempt: Attempt): Promise<{ status: number; text: string }> {
  try {
    const response = await send(attempt);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    // A body that is too long is cut off, whether or not its sender has read the answer.
    return { status: 413, text: String(error) };
  }
}

const errorsIn = (text: string): string => {
  const { detail, errors } = JSON.parse(text);
  return JSON.stringify([detail, errors]);
};

const report = (faults: readonly string[], lines: readonly string[]): string => {
  if (faults.length === 0) return '';
  const causes = lines.filter((line) => line.includes('"level":"error"') || line.includes('"level":50'));
  return [...faults, '', ...causes.slice(0, 40).map((line) => line.slice(0, 700))].join('\n\n');
};
