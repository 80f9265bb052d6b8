// Owns: what the environment says of the database's addresses, of a pooler before it, and of the time without it.
// Does not own: the variables themselves (config.ts), the connections (db).
import { z } from 'zod';
import type { Config } from './config.ts';
import { faultOf } from './db/hosts.ts';

/** One host, or several with commas between them, of which one takes writes. */
export const databaseAddress = z.string().superRefine((url, context) => {
  const fault = faultOf(url);
  if (fault !== undefined) context.addIssue(fault);
});

/** The pooler before the database; undefined: there is none. */
export const poolerOf = ({ DATABASE_DIRECT_URL: direct, SVC_DATABASE_PREPARED: prepared }: Config) =>
  direct === undefined ? undefined : { prepared };

/** The database itself, for commands that are none of the request path. */
export const directDatabase = ({ DATABASE_URL: url, DATABASE_DIRECT_URL: direct = url }: Config) => direct;

/** How long the server goes on without the database, in milliseconds. */
export const staleOf = ({ SVC_STALE_SECONDS: seconds, SVC_STALE_READINESS: readiness }: Config) => ({
  answersMs: seconds * 1000,
  readinessMs: readiness ? seconds * 1000 : 0,
});
