// Owns: a name server of a test's own, over UDP (RFC 1035), and asking it as the system's resolver asks.
// Does not own: what it says, which a test may change at any time.
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';

const HEADER = 12;
const TXT = 16;
const SERVER_FAILURE = 2;

/** @param records TXT records by name, each in pieces of at most 255 bytes; an error is told as a failure of the server */
export async function startNameServer(records: ReadonlyMap<string, string[][] | Error>) {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, end } = questionOf(query);
    const found = records.get(name) ?? [];
    const failed = found instanceof Error;
    const answers = failed ? [] : found;
    const header = Buffer.alloc(HEADER);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (failed ? SERVER_FAILURE : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([header, query.subarray(HEADER, end), ...answers.map(answerOf)]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: 2_000, tries: 4 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    resolveTxt: (name: string) => resolver.resolveTxt(name),
    stop: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // the root, its type and class
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

function answerOf(pieces: readonly string[]): Buffer {
  const data = Buffer.concat(pieces.map((piece) => Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece)])));
  const head = Buffer.alloc(HEADER);
  // the name that was asked for
  head.writeUInt16BE(0xc000 | HEADER, 0);
  head.writeUInt16BE(TXT, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
