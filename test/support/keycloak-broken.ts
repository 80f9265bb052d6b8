// Owns: the tests of whole exports of Keycloak in which one thing at a time is broken: everything else comes, and the broken thing is told.
// Does not own: how many are tried (keycloak.broken.test.ts, keycloak.broken.long.test.ts), which faults are told in which words
// (keycloak.faults.test.ts).
// Implements: decisions "Import, export, plan" (import/keycloak); docs/keycloak.md.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KeycloakPlan } from '../../server/contract/keycloak.ts';
import { sendKeycloak } from './keycloak.ts';
import { startTestServer, type TestServer } from './server.ts';
import { type Importer, importer } from './transfer.ts';

const file = (name: string) =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../server/features/keycloak', name), 'utf8'));
const files: unknown[][] = [
  [file('acme-realm.json'), file('acme-users-0.json'), file('acme-users-1.json')],
  [file('26/lakeside-eu-realm.json')],
  [file('26/meridian-realm.json'), file('26/meridian-users-0.json')],
];
const SEED = 1;

/** Mulberry32: the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

type Step = string | number;
const at = (value: unknown, steps: readonly Step[]): unknown =>
  steps.reduce<unknown>((one, step) => Reflect.get(Object(one), step), value);
const set = (root: unknown, steps: readonly Step[], value: unknown) =>
  Reflect.set(Object(at(root, steps.slice(0, -1))), steps.at(-1) ?? '', value);
const remove = (root: unknown, steps: readonly Step[]) => {
  const holder = at(root, steps.slice(0, -1));
  const last = steps.at(-1) ?? '';
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else Reflect.deleteProperty(Object(holder), last);
};

const LISTS =
  /^(clients|clientScopes|groups|users|authenticationFlows|identityProviders|identityProviderMappers|organizations)$/;
/** A place in the files, deeper ones as likely as those above; and the object of which it is a part. */
function placeIn(root: unknown, random: (below: number) => number): { steps: Step[]; whole: Step[] } {
  const steps: Step[] = [random(Object.keys(Object(root)).length)];
  const stop = 1 + random(7);
  while (steps.length <= stop) {
    const here = at(root, steps);
    const keys = typeof here === 'object' && here !== null ? Object.keys(here) : [];
    const usable = steps.length === 1 ? keys.filter((key) => key !== 'realm' && key !== 'id') : keys;
    const key = usable[random(usable.length)];
    if (key === undefined) break;
    steps.push(Array.isArray(here) ? Number(key) : key);
  }
  const depth = LISTS.test(String(steps[1])) ? 3 : steps[1] === 'roles' ? (steps[2] === 'client' ? 5 : 4) : 2;
  return { steps, whole: steps.slice(0, depth) };
}

const BROKEN: ((value: unknown, random: (below: number) => number) => unknown)[] = [
  () => 5,
  () => null,
  () => true,
  () => 'no such thing',
  () => [],
  () => ({}),
  () => [[null], 7, { odd: [1] }],
  () => '',
  () => 'x'.repeat(70_000),
  () => 'half \ud800 of it',
  () => 'nul \0 inside',
  () => '\u202ebackwards\u200b',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: so Keycloak writes it
  () => '${vault.key}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: so Keycloak writes it
  () => '${ENV_NAME}',
  () => -1,
  () => 1e300,
  (value) => (Array.isArray(value) ? [...value, ...value] : { ...Object(value), __odd: 1 }),
  (value) => (Array.isArray(value) ? value.toReversed() : [value, value]),
  (value) => JSON.stringify(value),
];

/** @param count of exports, the same ones each time */
export function brokenExportTests(count: number): void {
  let server: TestServer;
  let admin: Importer;
  beforeAll(async () => {
    server = await startTestServer();
    admin = await importer(server);
  }, 120_000);
  afterAll(() => server?.stop());

  async function planned(realm: string, body: unknown, dryRun: 'true' | 'false') {
    const response = await sendKeycloak(admin, realm, JSON.stringify(body), { dryRun });
    const text = await response.text();
    return response.status === 200
      ? KeycloakPlan.parse(JSON.parse(text))
      : Promise.reject(new Error(`${response.status} ${text.slice(0, 2_000)}`));
  }
  const namesIn = ({ changes }: KeycloakPlan) => new Set(changes.map(({ kind, key }) => `${kind} ${key}`));

  test.each(Array.from({ length: count }, (_, i) => SEED * 10_000 + i))(
    'whatever one thing is broken (seed %i), the export is taken, and what has nothing to do with it comes',
    async (seed) => {
      const random = randomOf(seed);
      const whole = files[random(files.length)] ?? [];
      const broken = structuredClone(whole);
      const { steps, whole: around } = placeIn(broken, random);
      const make = BROKEN[random(BROKEN.length)];
      const bad = make?.(at(broken, steps), random);
      set(broken, steps, bad);
      const without = structuredClone(whole);
      remove(without, around);
      const what = `${steps.join('.')} = ${JSON.stringify(bad)?.slice(0, 80)}`;
      const { realm: from } = Object(whole[0]);
      const realm = `broken${seed}`;
      const query = JSON.stringify(broken);
      expect(query.length, what).toBeGreaterThan(0);
      const dry = await planned(realm, broken, 'true').catch((error: Error) => error);
      expect(dry, what).not.toBeInstanceOf(Error);
      const rest = await planned(realm, without, 'true').catch((error: Error) => error);
      if (dry instanceof Error || rest instanceof Error) throw new Error(`${what}: ${rest} ${from}`);
      const missing = [...namesIn(rest)].filter((name) => !namesIn(dry).has(name));
      expect(missing, what).toEqual([]);
      if (seed % 3 > 0) return;
      const applied = await planned(realm, broken, 'false').catch((error: Error) => error);
      if (applied instanceof Error) throw new Error(`${what}: ${applied}`);
      expect(namesIn(applied), what).toEqual(namesIn(dry));
      expect(applied.notCarried, what).toEqual(dry.notCarried);
    },
    60_000,
  );
}
