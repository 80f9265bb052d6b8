// All cases of the bench, in the order in which they run and are listed.
import type { Case } from './bench.ts';
import { federationCases } from './cases/federation.ts';
import { httpCases } from './cases/http.ts';
import { loginCases } from './cases/logins.ts';
import { logoutCases } from './cases/logouts.ts';
import { startCases } from './cases/start.ts';
import { tokenCases } from './cases/tokens.ts';
import { transferCases } from './cases/transfer.ts';

// the server's start and memory first, while the database is small
export const cases: readonly Case[] = [
  ...[...startCases, ...tokenCases, ...loginCases, ...httpCases, ...transferCases],
  ...[...logoutCases, ...federationCases],
];
