// Events as client-go's recorder tells them: counted, combined, bounded. The API server is a map; time is the test's.
import { expect, test } from 'vitest';
import { resourceOf } from '../../operator/resource.ts';
import { createRecorder } from '../../operator/source/events.ts';
import type { ResourceEvent } from '../../operator/source/source.ts';

const MINUTE = 60_000;
const object = (uid: string) => resourceOf('Webhook', { metadata: { name: 'hook', namespace: 'shop', uid } });
const warning = (message: string, reason: ResourceEvent['reason'] = 'Refused'): ResourceEvent => ({
  type: 'Warning',
  reason,
  message,
});

function start() {
  const stored = new Map<string, Record<string, unknown>>();
  let time = Date.UTC(2026, 0, 1);
  let ids = 0;
  const record = createRecorder({
    component: 'operator',
    now: () => time,
    newId() {
      ids += 1;
      return `${ids}`;
    },
    writer: {
      async create(namespace, event) {
        stored.set(`${namespace}/hook.${ids}`, { ...event });
      },
      async patch(namespace, name, change) {
        const event = stored.get(`${namespace}/${name}`);
        if (event) Object.assign(event, change);
        return event !== undefined;
      },
    },
  });
  return {
    record,
    stored,
    pass: (ms: number) => {
      time += ms;
    },
    told: () => [...stored.values()].map(({ reason, message, count }) => `${reason} ×${count}: ${message}`),
  };
}

test('a repeated event is counted, not made again', async () => {
  const { record, stored, told, pass } = start();
  for (let i = 0; i < 3; i += 1) {
    await record(object('1'), warning('taken'));
    pass(MINUTE);
  }
  expect(told()).toEqual(['Refused ×3: taken']);
  const [event] = [...stored.values()];
  expect(event).toMatchObject({
    firstTimestamp: '2026-01-01T00:00:00.000Z',
    lastTimestamp: '2026-01-01T00:02:00.000Z',
    source: { component: 'operator' },
    involvedObject: { kind: 'Webhook', name: 'hook', namespace: 'shop', uid: '1' },
  });
});

test('another reason, another type and another object are other events', async () => {
  const { record, told } = start();
  await record(object('1'), warning('taken'));
  await record(object('1'), warning('taken', 'Conflict'));
  await record(object('1'), { type: 'Normal', reason: 'Refused', message: 'taken' });
  await record(object('2'), warning('taken'));
  expect(told()).toHaveLength(4);
});

test('many messages of one reason become one event, until it was quiet for a while', async () => {
  const { record, told, pass } = start();
  for (let i = 1; i <= 14; i += 1) await record(object('1'), warning(`try ${i}`));
  expect(told()).toHaveLength(11);
  expect(told().at(-1)).toBe('Refused ×4: (combined from similar events): try 14');
  pass(11 * MINUTE);
  await record(object('1'), warning('try 15'));
  expect(told().at(-1)).toBe('Refused ×1: try 15');
});

test('a flood about one object is dropped, and others are still told of', async () => {
  const { record, told, pass } = start();
  for (let i = 0; i < 100; i += 1) await record(object('1'), warning('taken'));
  expect(told()).toEqual(['Refused ×25: taken']);
  await record(object('2'), warning('taken'));
  expect(told()).toHaveLength(2);
  pass(5 * MINUTE);
  await record(object('1'), warning('taken'));
  await record(object('1'), warning('taken'));
  expect(told()[0]).toBe('Refused ×26: taken');
});

test('an event that the API server has let go is made again, with its count', async () => {
  const { record, stored, told } = start();
  await record(object('1'), warning('taken'));
  stored.clear();
  await record(object('1'), warning('taken'));
  expect(told()).toEqual(['Refused ×2: taken']);
});

test('a message is cut to what the API server takes', async () => {
  const { record, stored } = start();
  await record(object('1'), warning('x'.repeat(5_000)));
  expect(String([...stored.values()][0]?.message)).toHaveLength(1024);
});
