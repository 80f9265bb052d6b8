import { expect, test } from 'vitest';
import { createBodyBuffer } from '../../../server/features/operations/transfer/buffered-body.ts';

const KIB = 1024;
async function* chunks(...sizes: number[]): AsyncGenerator<Buffer> {
  for (const [i, size] of sizes.entries()) yield Buffer.alloc(size, i + 1);
}
const textOf = async (source: AsyncIterable<Buffer>) => {
  const pieces: Buffer[] = [];
  for await (const piece of source) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
};
const expected = (...sizes: number[]) => textOf(chunks(...sizes));

test('a body that fits is read as often as one likes', async () => {
  const buffer = createBodyBuffer(256 * KIB);
  const sizes = [1, 64 * KIB, 100, 70 * KIB];
  const body = await buffer(chunks(...sizes));
  expect(body).toMatchObject({ whole: true, bytes: 134 * KIB + 101 });
  for (let i = 0; i < 2; i += 1) expect((await textOf(body.read())).equals(await expected(...sizes))).toBe(true);
  expect(await buffer(chunks())).toMatchObject({ whole: true, bytes: 0 });
});

test('one that doesn’t fit goes on as it arrives, complete', async () => {
  const buffer = createBodyBuffer(128 * KIB);
  const sizes = [100 * KIB, 100 * KIB, 5, 300 * KIB];
  const body = await buffer(chunks(...sizes));
  expect(body.whole).toBe(false);
  expect((await textOf(body.read())).equals(await expected(...sizes))).toBe(true);
});

test('all bodies share the room and give it back: read, released or broken', async () => {
  const buffer = createBodyBuffer(128 * KIB);
  const fits = async () => (await buffer(chunks(120 * KIB))).whole;
  const first = await buffer(chunks(100 * KIB));
  expect(await fits()).toBe(false);
  await first.release();
  await first.release();
  const long = await buffer(chunks(200 * KIB));
  await textOf(long.read());
  const left = await buffer(chunks(200 * KIB));
  for await (const _ of left.read()) break;
  await left.release();
  async function* broken() {
    yield* chunks(100 * KIB);
    throw new Error('gone');
  }
  await expect(buffer(broken())).rejects.toThrow('gone');
  const again = await buffer(chunks(120 * KIB));
  expect(again.whole).toBe(true);
});

test('a reader that leaves gives the source back, so that the rest can be read away', async () => {
  const buffer = createBodyBuffer(64 * KIB);
  let closed = false;
  async function* source() {
    try {
      yield* chunks(100 * KIB, 100 * KIB);
    } finally {
      closed = true;
    }
  }
  await (await buffer(source())).release();
  expect(closed).toBe(true);
});

test('a body that breaks off is a bad request, and no word of the database’s connection', async () => {
  async function* aborted(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(10);
    throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  }
  await expect(createBodyBuffer(256 * KIB)(aborted())).rejects.toMatchObject({ code: 'invalid-request' });
  async function* later(): AsyncGenerator<Buffer> {
    yield* chunks(64 * KIB, 64 * KIB);
    yield* aborted();
  }
  const body = await createBodyBuffer(64 * KIB)(later());
  await expect(textOf(body.read())).rejects.toMatchObject({ code: 'invalid-request' });
});
