// Holds a request's body in memory while it fits, so that it can be read twice; the rest is streamed. All imports of
// the process share one memory limit, so that memory grows neither with them nor with a document.

import { Problem } from '../../../contract/problem.ts';
import { unreachable } from '../../../db/unreachable.ts';

export interface BufferedBody {
  /** True: all of the body is in memory, and can be read repeatedly. False: it can be read once. */
  whole: boolean;
  bytes: number;
  read(): AsyncIterable<Buffer>;
  /** Stops buffering: the stream keeps the unread rest of the body. */
  release(): Promise<void>;
}

const BLOCK = 64 * 1024;

/** @param room the limit in bytes for all bodies together */
export function createBodyBuffer(room: number): (body: AsyncIterable<Buffer>) => Promise<BufferedBody> {
  let free = room;

  return async (body) => {
    const source = arriving(body)[Symbol.asyncIterator]();
    const blocks: Buffer[] = [];
    let bytes = 0;
    /** The filled bytes of the last block. */
    let filled = BLOCK;
    const drop = (count: number) => {
      free += BLOCK * blocks.splice(0, count).length;
    };

    /**
     * Copies the chunk, because a chunk of one byte can keep a large buffer alive.
     * @returns the bytes for which there was no room
     */
    function keep(chunk: Buffer): Buffer {
      let rest = chunk;
      while (rest.length > 0) {
        if (filled === BLOCK) {
          if (free < BLOCK) break;
          free -= BLOCK;
          blocks.push(Buffer.allocUnsafeSlow(BLOCK));
          filled = 0;
        }
        const copied = rest.copy(blocks.at(-1) ?? rest, filled);
        filled += copied;
        bytes += copied;
        rest = rest.subarray(copied);
      }
      return rest;
    }
    async function fill(): Promise<Buffer | undefined> {
      for (;;) {
        const next = await source.next();
        if (next.done) return undefined;
        const rest = keep(next.value);
        if (rest.length > 0) return rest;
      }
    }
    const block = (i: number) => (blocks[i] ?? Buffer.alloc(0)).subarray(0, i === blocks.length - 1 ? filled : BLOCK);

    async function* again(): AsyncGenerator<Buffer> {
      for (let i = 0; i < blocks.length; i += 1) yield block(i);
    }
    async function* once(rest: Buffer): AsyncGenerator<Buffer> {
      while (blocks.length > 0) {
        yield block(0);
        drop(1);
      }
      yield rest;
      yield* { [Symbol.asyncIterator]: () => source };
    }

    try {
      const rest = await fill();
      return {
        whole: rest === undefined,
        bytes,
        read: () => (rest === undefined ? again() : once(rest)),
        async release() {
          drop(blocks.length);
          await source.return(undefined);
        },
      };
    } catch (error) {
      drop(blocks.length);
      throw error;
    }
  };
}

/** Turns a broken connection of the client into a 400: it is no fault of this server's own connections. */
async function* arriving(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined, undefined> {
  try {
    yield* body;
  } catch (cause) {
    if (!unreachable(cause)) throw cause;
    throw new Problem('invalid-request', 'The request ended before all of its body had come', { cause });
  }
}
