// Owns: a port for a program that must be told its own, and that may be killed and come back to it.
// Does not own: ports that the system gives (listen on 0): better wherever the program can say which it got.
// Below those that systems give unasked (from 32768 on Linux): nobody else comes by it before the program listens, or
// while it is down.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const [FIRST, END] = [11_000, 32_000];
// none twice in a process, and two processes begin far from each other
let next = randomInt(FIRST, END);

/** A port of loopback on which nobody listens, and that this process gives to nobody else. */
export async function freePort(): Promise<number> {
  for (let tries = END - FIRST; tries > 0; tries -= 1) {
    const port = next;
    next = port + 1 < END ? port + 1 : FIRST;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${FIRST} to ${END - 1} is free on 127.0.0.1`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
