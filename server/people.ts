// The composition root of how people sign in: credentials, flows, sessions and their pages, built once for app.ts.
// It decides nothing. Design "Composition root".
import type { FastifyInstance } from 'fastify';
import { createPasswords } from './crypto/passwords.ts';
import type { Argon2Parameters } from './crypto/phc.ts';
import type { Seal } from './crypto/seal.ts';
import type { TokenSeal } from './crypto/token-seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import { type Attempts, createAttempts } from './domain/attempts.ts';
import { createFactors } from './domain/factors.ts';
import { accountRoutes } from './features/account/routes.ts';
import { createRegistry } from './features/authenticators/registry.ts';
import { createPasskeys } from './features/credentials/passkeys.ts';
import { createRecoveryCodes } from './features/credentials/recovery-codes.ts';
import { createCredentials } from './features/credentials/service.ts';
import { createFlows } from './features/flows/service.ts';
import { impersonationPages } from './features/impersonation/routes.ts';
import type { Send } from './features/messaging/send.ts';
import { createRisk } from './features/risk/service.ts';
import { createSessions } from './features/sessions/service.ts';
import type { SettingsService } from './features/settings/service.ts';
import type { Continuation } from './features/sign-in/continuation.ts';
import { createNewPassword } from './features/sign-in/new-password.ts';
import { createProfile } from './features/sign-in/profile.ts';
import { signInRoutes } from './features/sign-in/routes.ts';
import { createSignIns } from './features/sign-in/service.ts';
import { createTerms } from './features/sign-in/terms.ts';
import { mountPageAssets, pageErrors } from './http/pages.ts';

/** Sign-ins of one address that need a row before anybody has proven anything; what fits into a cookie needs none. */
const UNPROVEN_A_MINUTE = 60;

export interface PeopleDeps {
  sql: Sql;
  /** For writes of one statement without an audit event. */
  realmSql: RealmSql;
  /** For reads that many do at the same moment. */
  batchedReads: Sql;
  transact: Transact;
  seal: Seal;
  /** For sign-ins that were only begun. */
  signInSeal: TokenSeal;
  settings: SettingsService;
  /** Asks for a message, in the transaction of what it is about. */
  send: Send;
  attempts: Attempts;
  /** Whether a password is known from breaches. */
  breached(plain: string): Promise<boolean>;
  /** For hashing passwords. */
  threads: number | undefined;
  /** What a hash costs, where it isn't the usual. */
  passwordCost: Argon2Parameters | undefined;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createPeople(deps: PeopleDeps) {
  const { sql, realmSql, batchedReads, transact, seal, signInSeal } = deps;
  const { settings, send, attempts, breached, threads, passwordCost, baseUrl, now, newId } = deps;
  const passwords = createPasswords({ threads, parameters: passwordCost });
  const haveSecond = (types: readonly string[]): boolean => factors.haveSecond(types);
  const rules = { settings, passwords, breached, haveSecond };
  const credentials = createCredentials({ sql, realmSql, batchedReads, transact, ...rules, seal, now, newId });
  const recoveryCodes = createRecoveryCodes({ transact, now, newId });
  const passkeys = createPasskeys({ sql, realmSql, now, newId });
  const registry = createRegistry({ credentials, passkeys, recoveryCodes, transact, send, seal, now });
  const factors = createFactors(registry);
  const flows = createFlows({ sql, transact, settings, registry, now, newId });
  const sessions = createSessions({ sql, realmSql, transact, settings, factors, baseUrl, now, newId });
  const risk = createRisk({ sql, baseUrl, now, newId });
  const signIns = createSignIns({
    sql,
    realmSql,
    transact,
    settings,
    flows,
    registry,
    required: [
      createNewPassword({ credentials, transact }),
      createProfile({ sql, transact }),
      createTerms({ transact }),
    ],
    factors,
    credentials,
    sessions,
    risk,
    attempts,
    unproven: createAttempts({ limit: UNPROVEN_A_MINUTE, now }),
    seal: signInSeal,
    baseUrl,
    now,
  });
  return {
    passwords,
    credentials,
    registry,
    factors,
    flows,
    sessions,
    signIns,
    risk,
    drop: flows.drop,
    /** `continuations`: what sign-ins go on to, as what an application asked for. */
    mountPages(pages: FastifyInstance, continuations: readonly Continuation[]): void {
      pages.setErrorHandler(pageErrors(settings.of));
      // Redirects too: "back" after signing out takes a kept one without asking, and goes round in circles.
      pages.addHook('onRequest', (_, reply, done) => {
        void reply.header('cache-control', 'no-store');
        done();
      });
      mountPageAssets(pages, { brandOf: settings.of });
      signInRoutes(pages, { signIns, sessions, settings, registry, continuations });
      impersonationPages(pages, { transact, sessions, settings, baseUrl });
      accountRoutes(pages, { sql, transact, sessions, factors, credentials, signIns, settings, now });
    },
    stop: passwords.stop,
  };
}
export type People = ReturnType<typeof createPeople>;
