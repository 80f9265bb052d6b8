// Owns: a server for the tests of a file, a realm of its own for each test, and the server's clock, which tests set.
// Does not own: servers (server.ts, mail.ts), a realm's users and clients (applications.ts).
import { afterAll, beforeAll, beforeEach } from 'vitest';

/** @param begin before each test, at the time that it is, with a realm's name that no other test has */
export function freshRealms<Server extends { stop(): Promise<void> }>(
  name: string,
  start: (options: { now: () => Date }) => Promise<Server>,
  begin: (server: Server, realm: string) => Promise<void>,
) {
  let server: Server;
  let clock = new Date();
  let made = 0;
  beforeAll(async () => {
    server = await start({ now: () => clock });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    made += 1;
    clock = new Date();
    await begin(server, `${name}${made}`);
  });
  return {
    seconds: (): number => Math.floor(clock.getTime() / 1000),
    later(ms: number): void {
      clock = new Date(clock.getTime() + ms);
    },
  };
}
