// Owns: that a directory's answers take bounded memory: messages that never end, answers that never end, what is no LDAP.
// Does not own: what entries mean, and syncs with a real directory (ldap-sync.test.ts).
// Implements: RFC 4511 §5.1.
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createAnswerSize } from '../../../server/features/people/user-federation/answer-size.ts';
import { withDirectory } from '../../../server/features/people/user-federation/connection.ts';

const message = (length: number) => {
  const head = Buffer.alloc(6);
  head.writeUInt16BE(0x3084);
  head.writeUInt32BE(length, 2);
  return head;
};
/** A bind that succeeded, by the id of the request. */
const bound = (id: number) => Buffer.from([0x30, 0x0c, 0x02, 0x01, id, 0x61, 0x07, 0x0a, 0x01, 0, 0x04, 0, 0x04, 0]);

describe('the size of answers', () => {
  test('counts messages in any pieces, and a new request begins anew', () => {
    const size = createAnswerSize({ mostMessage: 300, mostAnswer: 1_000 });
    const whole = Buffer.concat([message(300), Buffer.alloc(300), Buffer.from([0x30, 2, 1, 2])]);
    for (const byte of whole) expect(size.take(Buffer.from([byte]))).toBeUndefined();
    expect(size.take(whole)).toBeUndefined();
    size.begin();
    for (let i = 0; i < 3; i += 1) expect(size.take(whole)).toBeUndefined();
    expect(size.take(whole)).toContain('in one answer');
  });

  test.each([
    ['a message that is too long', message(301), 'as one message'],
    ['a message of 4 GB', message(0xffff_ffff), 'as one message'],
    ['a length of five bytes', Buffer.from([0x30, 0x85, 0, 0, 0, 0, 1]), 'not LDAP'],
    ['an indefinite length', Buffer.from([0x30, 0x80, 0]), 'not LDAP'],
    ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n'), 'not LDAP'],
  ])('refuses %s at its first bytes', (_, bytes, words) => {
    expect(createAnswerSize({ mostMessage: 300 }).take(bytes)).toContain(words);
  });
});

describe('a directory', () => {
  let listener: net.Server | undefined;
  afterEach(() => new Promise<void>((resolve) => (listener ? listener.close(() => resolve()) : resolve())));

  /** Connects to a server that answers each request by `answer`, and searches there. */
  async function search(answer: (socket: net.Socket, request: Buffer) => void): Promise<unknown> {
    listener = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (request) => answer(socket, request));
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const outbound = {
      connect: async () => {
        const socket = net.connect(port, '127.0.0.1');
        await once(socket, 'connect');
        return socket;
      },
      secureContext: () => undefined as never,
    };
    const directory = {
      connection: { urls: ['ldap://directory.example'], bindDn: 'cn=reader' },
      secret: 'secret',
    } as unknown as Parameters<typeof withDirectory>[0];
    const { PresenceFilter } = await import('ldapts');
    const filter = new PresenceFilter({ attribute: 'objectClass' });
    return withDirectory(directory, { outbound: outbound as never, timeoutMs: 60_000 }, (session) =>
      session.some({ base: 'dc=x', scope: 'sub', filter, attributes: ['cn'] }, 1),
    ).catch((error: unknown) => error);
  }

  test('whose message never ends is left at its length, in bounded memory and without waiting', async () => {
    const before = process.memoryUsage().rss;
    let sent = 0;
    const failed = await search((socket, request) => {
      const id = request[4] ?? 0;
      if (request[5] === 0x60) return void socket.write(bound(id));
      if (request[5] !== 0x63) return;
      socket.write(message(0x7fff_ffff));
      const endless = () => {
        while (!socket.destroyed && sent < 400 * 1024 * 1024) {
          sent += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) return void socket.once('drain', endless);
        }
      };
      endless();
    });
    expect(failed).toMatchObject({ message: 'the directory sent more than 16 MB as one message' });
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1024 * 1024);
  });

  test('that speaks another protocol is named as such', async () => {
    const failed = await search((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(failed).toMatchObject({ message: 'what the directory sent is not LDAP' });
  });
});
