// Following a collection, with an API that is a few lines of text: what is lost on the way is found again.
import { expect, test } from 'vitest';
import { ApiFailure } from '../../operator/source/api-failure.ts';
import { createListWatch } from '../../operator/source/list-watch.ts';
import type { Followed } from '../../operator/source/listing.ts';

const object = (name: string, version: number) => ({
  metadata: { name, namespace: 'ns', resourceVersion: String(version) },
});
const list = (version: number, ...items: object[]) => [
  JSON.stringify({ metadata: { resourceVersion: String(version) }, items }),
];
const event = (type: string, of: object) => JSON.stringify({ type, object: of });
const gone = event('ERROR', { code: 410, message: 'too old resource version' });

const aborted = (signal: AbortSignal) =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/** What the API answers, request by request; after the last it is silent until it is given up. */
type Answer = (string | Error)[] | Error | 'silence';

function follow(answers: Answer[], { silenceMs = 60_000, reaches = 1_000 } = {}) {
  const asked: URLSearchParams[] = [];
  const told: string[] = [];
  const lines: string[] = [];
  const waited: number[] = [];
  let reached: () => void = () => {};
  const exhausted = new Promise<void>((resolve) => {
    reached = resolve;
  });
  async function* linesOf(answer: Answer | undefined, signal: AbortSignal): AsyncIterable<string> {
    for (const line of Array.isArray(answer) ? answer : []) {
      if (line instanceof Error) throw line;
      yield line;
    }
    if (Array.isArray(answer)) return;
    await aborted(signal);
  }
  const watch = createListWatch({
    path: '/things',
    async open(path, signal) {
      const query = new URLSearchParams(path.split('?')[1]);
      // how far it has come, asked beside the lists and watches that are looked at here
      if (query.get('limit') === '1') return linesOf(list(reaches), signal);
      asked.push(query);
      const answer = answers.shift();
      if (answers.length === 0) reached();
      if (answer instanceof Error) throw answer;
      return linesOf(answer, signal);
    },
    upserted: ({ metadata }: Followed) => void told.push(`has ${metadata.name}@${metadata.resourceVersion}`),
    deleted: (_, name) => void told.push(`lost ${name}`),
    log: (line) => void lines.push(line),
    silenceMs,
    wait: async (ms) => {
      waited.push(ms);
    },
    random: () => 0,
  });
  return { watch, asked, told, lines, waited, exhausted };
}

async function after(answers: Answer[], options = {}) {
  const followed = follow([...answers, 'silence'], options);
  await followed.watch.start();
  await followed.exhausted;
  await followed.watch.stop();
  return followed;
}

test('what is there is told, then what comes, changes and goes', async () => {
  const { told } = await after([
    list(5, object('a', 3), object('b', 4)),
    [event('ADDED', object('c', 6)), event('MODIFIED', object('a', 7)), event('DELETED', object('b', 8))],
  ]);
  expect(told).toEqual(['has a@3', 'has b@4', 'has c@6', 'has a@7', 'lost b']);
});

test('a long list comes in pages', async () => {
  const page = JSON.stringify({ metadata: { resourceVersion: '9', continue: 'more' }, items: [object('a', 1)] });
  const { asked, told } = await after([[page], list(9, object('b', 2))]);
  expect(told).toEqual(['has a@1', 'has b@2']);
  expect(asked[1]?.get('continue')).toBe('more');
  expect(asked[2]?.get('resourceVersion')).toBe('9');
});

test('a watch that ends goes on from the last event or bookmark', async () => {
  const { asked } = await after([
    list(5),
    [event('ADDED', object('a', 6)), event('BOOKMARK', { metadata: { resourceVersion: '40' } })],
  ]);
  expect(asked[1]?.get('allowWatchBookmarks')).toBe('true');
  expect(asked.map((query) => query.get('resourceVersion'))).toEqual([null, '5', '40']);
});

test('after 410, as an event or as the answer, it lists again and tells what went meanwhile', async () => {
  const { told, lines } = await after([
    list(5, object('a', 3), object('b', 4)),
    [gone],
    list(90, object('b', 4), object('c', 80)),
    new ApiFailure(410, 'gone'),
    list(99, object('c', 80)),
  ]);
  expect(told).toEqual(['has a@3', 'has b@4', 'lost a', 'has c@80', 'lost b']);
  expect(lines).toEqual([]);
});

test('a broken connection backs off ever longer, is told once, and loses nothing', async () => {
  const broken = new Error('read ECONNRESET');
  const { told, lines, waited, asked } = await after([
    list(5),
    [event('ADDED', object('a', 6)), broken],
    broken,
    [event('ADDED', object('b', 7))],
  ]);
  expect(told).toEqual(['has a@6', 'has b@7']);
  expect(lines).toEqual(['/things: read ECONNRESET; trying again']);
  expect(waited.filter((ms) => ms > 0)).toEqual([250, 500]);
  expect(asked.at(2)?.get('resourceVersion')).toBe('6');
});

test('a watch that fails again and again is not begun at its version for ever: it lists', async () => {
  const broken = new Error('read ECONNRESET');
  const { told, asked } = await after([list(5, object('a', 3)), broken, broken, broken, list(9, object('b', 8))]);
  expect(asked.map((query) => query.get('resourceVersion'))).toEqual([null, '5', '5', '5', null, '9']);
  expect(told).toEqual(['has a@3', 'lost a', 'has b@8']);
});

test('a version that the server has not reached yet, after a restored backup, is given up at once', async () => {
  const { asked, told } = await after([
    list(500, object('a', 3)),
    new ApiFailure(504, 'Too large resource version: 500, current: 20'),
    list(20),
  ]);
  expect(asked.map((query) => query.get('resourceVersion'))).toEqual([null, '500', null, '20']);
  expect(told).toEqual(['has a@3', 'lost a']);
});

test('a version that is still to come, after a restored backup, is given up where the watch would be silent', async () => {
  const broken = new Error('read ECONNRESET');
  const { asked, told } = await after([list(500, object('a', 3)), broken, list(20, object('a', 2))], { reaches: 20 });
  expect(asked.map((query) => query.get('resourceVersion'))).toEqual([null, '500', null, '20']);
  expect(told).toEqual(['has a@3', 'has a@2']);
});

test('a history that goes while pages are read begins a list in one go', async () => {
  const page = JSON.stringify({ metadata: { resourceVersion: '9', continue: 'more' }, items: [object('a', 1)] });
  const { asked, told, lines } = await after([[page], new ApiFailure(410, 'expired'), list(12, object('b', 11))]);
  expect(asked.map((query) => query.get('limit'))).toEqual(['500', '500', null, null]);
  expect(asked[2]?.get('continue')).toBeNull();
  expect([told, lines]).toEqual([['has b@11'], []]);
});

test('a kind that is gone is believed the third time, all of it with it, and found when it comes back', async () => {
  const none = new ApiFailure(404, 'the server could not find the requested resource');
  const { told, lines } = await after([
    list(5, object('a', 3)),
    none,
    none,
    list(6, object('a', 3)),
    none,
    none,
    none,
    none,
    list(20, object('a', 19)),
  ]);
  expect(told).toEqual(['has a@3', 'lost a', 'has a@19']);
  expect(lines.at(-1)).toContain('are the CRDs installed?');
});

test('a kind that was never there holds up nothing', async () => {
  const { watch } = follow([...Array<Answer>(3).fill(new ApiFailure(404, 'no such kind')), 'silence']);
  await watch.start();
  await watch.stop();
});

test('a refresh lists at once, in the middle of a watch or of waiting, and is told when that is complete', async () => {
  const { watch, told } = follow([list(5), 'silence', list(9, object('b', 8)), 'silence', list(12), 'silence']);
  await watch.start();
  await watch.refresh();
  expect(told).toEqual(['has b@8']);
  await watch.refresh();
  expect(told).toEqual(['has b@8', 'lost b']);
  await watch.stop();
  await watch.refresh();
});

test('a watch that goes silent is given up and begun again', async () => {
  const { asked, lines } = await after([list(5), 'silence', [event('ADDED', object('a', 6))]], { silenceMs: 20 });
  expect(asked.length).toBeGreaterThanOrEqual(3);
  expect(lines[0]).toContain('nothing was heard');
});

test('an API that is away at the start is waited for', async () => {
  const { told } = await after([
    new Error('connect ECONNREFUSED'),
    new ApiFailure(503, 'starting'),
    list(5, object('a', 3)),
  ]);
  expect(told).toEqual(['has a@3']);
});

test('nonsense from the API is a fault like any other: it lists again from scratch or goes on', async () => {
  const { told } = await after([['<html>'], list(5, object('a', 3)), ['{"type":'], [event('ADDED', object('b', 6))]]);
  expect(told).toEqual(['has a@3', 'has b@6']);
});

test('a listener that throws ends nothing', async () => {
  const told: string[] = [];
  const lines: string[] = [];
  const answers = [list(5, object('a', 3), object('b', 4))];
  const watch = createListWatch({
    path: '/things',
    async open(_, signal) {
      const answer = answers.shift();
      async function* text() {
        yield* answer ?? [];
        if (!answer) await aborted(signal);
      }
      return text();
    },
    upserted({ metadata }) {
      if (metadata.name === 'a') throw new Error('a mistake');
      told.push(metadata.name);
    },
    deleted: () => undefined,
    log: (line) => void lines.push(line),
  });
  await watch.start();
  await watch.stop();
  expect(told).toEqual(['b']);
  expect(lines).toEqual(['/things: a mistake']);
});

test('stopping ends it at once, also while it waits', async () => {
  const { watch } = follow([new Error('away'), 'silence']);
  const started = watch.start();
  await watch.stop();
  await started;
});
