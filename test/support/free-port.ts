// Owns: a port for a program that needs a fixed one, and that may be killed and use it again.
// Does not own: ports from the system (listen on 0), which are better if the program can report its port.
// These ports lie below those that the system assigns (from 32768 on Linux), so no other program gets one before the program
// listens, or while it is down.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const [FIRST, END] = [11_000, 32_000];
// none twice in a process, and two processes begin far from each other
let next = randomInt(FIRST, END);

/** A loopback port without a listener, which this process returns only once. */
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
