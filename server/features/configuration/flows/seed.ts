// The built-in flow of a new realm: password, a second factor for users with one, and a step-up for risky sign-ins.
import type { Execution, ExecutionInput } from '../../../contract/flows.ts';
import type { Sql } from '../../../db/sql.ts';
import type { RealmSeed } from '../realms/seed.ts';
import * as store from './store.ts';
import { type AuthenticatorEntry, rowsOf } from './tree.ts';

const BUILT_IN_FLOW = 'browser';

/**
 * All factors that the account page offers. In a realm that requires a second factor, users without one set up the
 * first of these.
 */
const anyOfTheirs: ExecutionInput[] = ['otp', 'webauthn', 'push', 'recovery-codes'].map((authenticatorId) => ({
  authenticatorId,
  requirement: 'ALTERNATIVE',
}));

const browser: ExecutionInput[] = [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' },
  {
    name: 'Second factor',
    requirement: 'CONDITIONAL',
    executions: [{ authenticatorId: 'mfa-enabled', requirement: 'REQUIRED' }, ...anyOfTheirs],
  },
  {
    name: 'Step-up at risk',
    requirement: 'CONDITIONAL',
    executions: [{ authenticatorId: 'risk', requirement: 'REQUIRED' }, ...anyOfTheirs],
  },
];

const builtInRows = (newId: () => string, registry: readonly AuthenticatorEntry[]): Execution[] => {
  const read = rowsOf(browser, { newId, registry });
  if ('errors' in read) throw new Error('the built-in flow is unsound');
  return read.rows;
};

/** Gives a realm its built-in flow as it was seeded. @returns the flow's alias */
export async function resetFlow(
  sql: Sql,
  realm: string,
  { newId, registry }: { newId: () => string; registry: readonly AuthenticatorEntry[] },
): Promise<string> {
  await store.replaceExecutions(sql, realm, BUILT_IN_FLOW, builtInRows(newId, registry));
  return BUILT_IN_FLOW;
}

export const seedFlows =
  ({ newId, registry }: { newId: () => string; registry: readonly AuthenticatorEntry[] }): RealmSeed =>
  async ({ sql }, realm) => {
    await store.insert(sql, realm, BUILT_IN_FLOW, true);
    await store.replaceExecutions(sql, realm, BUILT_IN_FLOW, builtInRows(newId, registry));
  };
