// Owns: what is answered to a request that Node's parser refuses, so that no route ever sees it: headers that are too large or come too
// slowly, bytes that are no HTTP. Does not own: faults that are found behind the parser (problems.ts, not-found.ts).
// Implements: specification 7; RFC 9110 §15.5, RFC 6585 §5; decisions "Errors".
import type { Duplex } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import { Problem } from '../contract/problem.ts';
import { isScimPath } from './not-found.ts';
import { problemBody } from './problems.ts';
import { SCIM_JSON, scimErrorOf } from './scim-error.ts';

/** Node's error: `rawPacket` is the last received data, which may begin with a request. */
type ParserError = Error & { code?: string | undefined; rawPacket?: unknown };

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

function problemIn({ code }: ParserError): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers-too-large');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new Problem('too-large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('timed-out');
  return new Problem('invalid-request', 'This is no request of HTTP');
}

const LONGEST = 2048;
/** The path in the request line, if the last received data begins with one. */
const pathIn = (packet: unknown): string | undefined =>
  Buffer.isBuffer(packet)
    ? /^[A-Z]{1,20} (\/[^ ?\r\n]*)/.exec(packet.subarray(0, LONGEST).toString('latin1'))?.[1]
    : undefined;

export function answerBroken(error: ParserError, socket: Duplex, log: FastifyBaseLogger): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const problem = problemIn(error);
  log.debug({ err: error, code: error.code }, 'a request was refused by the parser');
  const path = pathIn(error.rawPacket);
  const isScim = path !== undefined && isScimPath(path);
  const body = JSON.stringify(isScim ? scimErrorOf(problem) : problemBody(problem, path));
  const head = [
    `HTTP/1.1 ${problem.status} ${REASONS[problem.status]}`,
    `Content-Type: ${isScim ? SCIM_JSON : 'application/problem+json; charset=utf-8'}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  // This response must not be mixed with another one that is being sent.
  if (socket.writable && !answering(socket)) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroy(error);
}

/** Whether headers of another response were sent already, by the same check as Node's own handler. */
const answering = (socket: Duplex): boolean =>
  '_httpMessage' in socket && Object(socket._httpMessage).headersSent === true;
