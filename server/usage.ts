// What `npm run server` and `npm start` print for --help. They accept no other argument: users could believe that an
// ignored one had an effect. Loaded only if there is an argument; docs/configuration.md has every variable.

import { helpOf } from './contract/program-words.ts';

const COMMON = `Environment (the most used; all of it: docs/configuration.md)
  DATABASE_URL       postgres://user:password@host/database, PostgreSQL 15 or newer
                     (default: an embedded PostgreSQL, under SVC_DATA_DIR)
  SVC_MASTER_KEY     seals what is secret in the database: base64 of 32 bytes, to be kept
                     (required with DATABASE_URL; otherwise made beside the embedded data)
  SVC_DATA_DIR       where the embedded PostgreSQL keeps its data (default .data)
  SVC_HOST, SVC_PORT where it listens (default 127.0.0.1, 8080)
  SVC_BASE_URL       the public address, https except on loopback (default http://localhost:<SVC_PORT>)
  SVC_BOOTSTRAP_ADMIN_USERNAME, SVC_BOOTSTRAP_ADMIN_PASSWORD
                     the administrator that the first start makes (default: admin, printed once)`;

const SERVER = `Starts a Realmkeeper server, and stops it gracefully on SIGTERM or Ctrl-C. It migrates its database first.

Usage: npm run server

${COMMON}
  SVC_OPERATOR_CLIENT_SECRET
                     makes the operator's client, with this secret
  SVC_TRUST_PROXY    addresses and CIDRs of proxies whose forwarding headers count
  SVC_LOG_LEVEL      trace, debug, info, warn, error or silent (default info); JSON lines on stdout

Examples
  npm run server
  SVC_PORT=8081 SVC_DATA_DIR=.data/other npm run server
  DATABASE_URL=postgres://user:password@host/database SVC_MASTER_KEY=$(cat master.key) \\
    SVC_BASE_URL=https://id.example.com npm run server`;

const QUICK_START = `Starts a Realmkeeper server with the realm demo: crds/examples/ applied, and one person to sign in as.

Usage: npm start

${COMMON}
  SVC_DEMO_PASSWORD, SVC_DEMO_CLIENT_SECRET
                     of alice and of the client demo-service (default: made, printed once)

Examples
  npm start
  SVC_PORT=8081 npm start
  DATABASE_URL=postgres://user:password@host/database SVC_MASTER_KEY=$(cat master.key) npm start

The parts by themselves
  npm run server -- --help
  npm run operator -- --help
  npm run realmctl -- --help`;

const usages = { server: SERVER, 'quick start': QUICK_START };

/** @returns the exit code: 0 if help was requested, else 2 */
export function answerArguments(
  args: readonly string[],
  program: keyof typeof usages,
  { started, out, fault }: { started?: string | undefined; out(text: string): void; fault(text: string): void },
): number {
  if (args.every((arg) => arg === '--help' || arg === '-h')) {
    out(helpOf(usages[program], started));
    return 0;
  }
  // Without the arguments themselves: a log would store the password of a DATABASE_URL that came as an argument.
  fault(`The ${program} takes no arguments: everything comes from the environment. See --help.`);
  return 2;
}
