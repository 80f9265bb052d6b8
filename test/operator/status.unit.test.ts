// What a resource's status says of an outcome, as kstatus reads it, and what the next step is.
import { expect, test } from 'vitest';
import { Unusable } from '../../operator/kinds/kind.ts';
import { specPath } from '../../operator/kinds/spec-path.ts';
import { conditionsAfter } from '../../operator/runtime/conditions.ts';
import { nextOf, type Outcome, outcomeOf, Stalled, Waiting, wordsOf } from '../../operator/runtime/outcome.ts';
import { changeLines, oneLine, planWords } from '../../operator/runtime/plan-words.ts';
import { ServerProblem } from '../../server/contract/client.ts';
import type { Change, Plan } from '../../server/contract/transfer.ts';
import { planOf } from '../support/plan.ts';

const early = '2026-01-01T00:00:00Z';
const later = '2026-01-01T00:10:00Z';
const short = (outcome: Outcome) =>
  conditionsAfter(outcome, { generation: 3, now: early }).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  );

test.each<[Outcome, string[], 'backoff' | 'resync']>([
  [{ is: 'Ready', message: 'Applied' }, ['Ready=True Applied'], 'resync'],
  [{ is: 'Ready', reason: 'Incomplete', message: 'Applied, but' }, ['Ready=True Incomplete'], 'resync'],
  [
    { is: 'Drifted', message: 'update client app', because: 'Reported' },
    ['Ready=True Reported', 'Drifted=True DriftFound'],
    'resync',
  ],
  [
    { is: 'Drifted', message: 'update client app', because: 'Observed' },
    ['Ready=True Observed', 'Drifted=True DriftFound'],
    'resync',
  ],
  [{ is: 'Suspended' }, ['Suspended=True Suspended'], 'resync'],
  [
    { is: 'Stalled', reason: 'Conflict', message: 'taken' },
    ['Ready=False Conflict', 'Stalled=True Conflict'],
    'resync',
  ],
  [
    { is: 'Waiting', reason: 'SecretMissing', message: 'waiting' },
    ['Reconciling=True SecretMissing', 'Ready=False Waiting'],
    'backoff',
  ],
  [
    { is: 'Retrying', reason: 'ServerUnavailable', message: 'again' },
    ['Reconciling=True ServerUnavailable', 'Ready=False ServerUnavailable'],
    'backoff',
  ],
])('%o is told by these conditions', (outcome, conditions, next) => {
  expect(short(outcome)).toEqual(conditions);
  expect(nextOf(outcome)).toBe(next);
});

test('an unchanged outcome gives the very same conditions, however late it is', () => {
  const outcome: Outcome = { is: 'Stalled', reason: 'Conflict', message: 'taken' };
  const before = conditionsAfter(outcome, { generation: 1, now: early });
  expect(conditionsAfter(outcome, { before, generation: 1, now: later })).toStrictEqual(before);
});

test('the time of a transition moves with the status alone, not with reason, message or generation', () => {
  const before = conditionsAfter({ is: 'Stalled', reason: 'Conflict', message: 'a' }, { generation: 1, now: early });
  const [, ready] = conditionsAfter(
    { is: 'Waiting', reason: 'SecretMissing', message: 'b' },
    { before, generation: 2, now: later },
  );
  expect(ready).toMatchObject({ status: 'False', lastTransitionTime: early, observedGeneration: 2, message: 'b' });
  const [now] = conditionsAfter({ is: 'Ready', message: 'Applied' }, { before, generation: 2, now: later });
  expect(now).toMatchObject({ status: 'True', lastTransitionTime: later });
});

test('a message is cut, not refused by the API server for its length', () => {
  const message = 'x'.repeat(100_000);
  const [ready] = conditionsAfter({ is: 'Stalled', reason: 'Refused', message }, { generation: 1, now: early });
  expect(ready?.message.length).toBeLessThanOrEqual(32_768);
});

const problem = (status: number, detail = 'the server’s words') => new ServerProblem(status, detail);
test.each<[string, unknown, string, string]>([
  ['a Stalled', new Stalled('RealmExists', 'm'), 'Stalled', 'RealmExists'],
  ['a Waiting', new Waiting('SecretMissing', 'm'), 'Waiting', 'SecretMissing'],
  ['a spec that gives no document', new Unusable('m'), 'Stalled', 'Invalid'],
  ['a server that can’t be reached', problem(0), 'Waiting', 'ServerUnreachable'],
  ['400', problem(400), 'Stalled', 'Refused'],
  ['401', problem(401), 'Waiting', 'SignInRefused'],
  ['403', problem(403), 'Stalled', 'Forbidden'],
  ['404', problem(404), 'Stalled', 'NotFound'],
  ['409', problem(409), 'Stalled', 'Conflict'],
  ['412', problem(412), 'Retrying', 'Changed'],
  ['413', problem(413), 'Stalled', 'TooLarge'],
  ['422', problem(422), 'Stalled', 'Refused'],
  ['429', problem(429), 'Retrying', 'ServerUnavailable'],
  ['500', problem(500), 'Retrying', 'ServerUnavailable'],
  ['503', problem(503), 'Retrying', 'ServerUnavailable'],
  ['an error that nobody foresaw', new TypeError('x is not a function'), 'Retrying', 'Error'],
  ['something that isn’t an error', 'text', 'Retrying', 'Error'],
])('%s becomes an outcome', (_, error, is, reason) => {
  expect(outcomeOf(error)).toMatchObject({ is, reason });
});

test('of a refusal every faulty field and every owner is told, each once', () => {
  const details = { type: 'about:blank', title: 'Bad Request', status: 400 };
  const fields = new ServerProblem(400, 'roles[0]: bad', {
    ...details,
    errors: [
      { path: 'roles[0]', message: 'bad' },
      { path: 'clients[1].name', message: 'too long' },
    ],
  });
  expect(wordsOf(fields)).toBe('roles[0]: bad; clients[1].name: too long');
  expect(wordsOf(fields, 'Realm')).toBe('spec.roles[0]: bad; spec.clients[1].name: too long');
  const conflict = new ServerProblem(409, 'Managed by another', {
    ...details,
    conflicts: [{ kind: 'settings', key: 'acme', path: 'requireMfa', manager: 'cli:ana' }],
  });
  expect(wordsOf(conflict)).toBe('settings acme (requireMfa) is managed by cli:ana');
});

test.each([
  ['Realm', 'realm.passwordMinLength', 'spec.settings.passwordMinLength'],
  ['Realm', 'clients[3].secret', 'spec.clients[3].secretKeyRef'],
  ['Realm', 'clients[3].jwks.keys[0].secret', 'spec.clients[3].jwks.keys[0].secret'],
  ['Realm', 'clientRoles.my.shop[0].name', 'spec.clientRoles.my.shop[0].name'],
  ['Realm', 'realm', 'spec.settings'],
  ['Realm', '', 'spec'],
  ['Flow', 'flows[0].executions[1].authenticatorId', 'spec.executions[1].authenticatorId'],
  ['Flow', 'realm.browserFlow', 'spec.bind'],
  ['Webhook', 'webhooks[0].eventTypes', 'spec.eventTypes'],
  ['Webhook', 'webhooks[0].secret', 'spec.secretKeyRef'],
  ['WorkloadIdentity', 'workloadIdentity[0]', 'spec'],
] as const)('a fault of a %s at %s is told by its place in the spec', (kind, path, place) => {
  expect(specPath(kind, path)).toBe(place);
});

const plan = (changes: Change[]): Plan =>
  planOf({ changes, summary: { create: 0, update: changes.length, delete: 0, text: 'in the server’s words' } });
const update = (n: number): Change => ({
  action: 'update',
  kind: 'client',
  key: `c${n}`,
  fields: [{ path: 'name', from: 'a', to: 'b' }],
});

test('a plan is told field by field, from what is to what is declared, at most 20 lines', () => {
  const secret = {
    action: 'update',
    kind: 'client',
    key: 'app',
    fields: [{ path: 'secret', from: '***', to: '***' }],
  } as const;
  const changes: Change[] = [
    { action: 'create', kind: 'role', key: 'reader', fields: [{ path: 'description', from: undefined, to: 'x' }] },
    { action: 'delete', kind: 'flow', key: 'old', fields: [] },
    { ...secret, fields: [...secret.fields] },
    { action: 'update', kind: 'settings', key: 'acme', fields: [{ path: 'logoUrl', from: null, to: 'x'.repeat(900) }] },
  ];
  const told = changeLines(plan(changes));
  expect(told.slice(0, 3)).toEqual(['role reader: create', 'flow old: delete', 'client app: secret "***" → "***"']);
  expect(told[3]?.length).toBeLessThan(300);
  expect(told[3]).toMatch(/^settings acme: logoUrl null → "x+…$/);
  expect(changeLines(plan(Array.from({ length: 50 }, (_, n) => update(n))))).toHaveLength(20);
});

test('a plan in one line names the first few and counts the rest', () => {
  expect(planWords(plan([update(1)]))).toBe('update client c1');
  const many = planWords(plan(Array.from({ length: 50 }, (_, n) => update(n))));
  expect(many).toMatch(/update client c0.* and \d+ more$/);
  expect(many.length).toBeLessThan(300);
  expect(planWords(plan([]))).toBe('in the server’s words');
});

test('what people write stays one line of the log, without a terminal’s control characters', () => {
  expect(oneLine('there is no client a\nrealm master: deleted\u001b[2J – ü')).toBe(
    'there is no client a\\u000arealm master: deleted\\u001b[2J – ü',
  );
});
