// The demonstration's single user, created once through the admin API, as an administrator would. Decisions "Where it
// listens, what it reads".
import { type Client, ServerProblem } from '../server/contract/client.ts';
import { passwordFaults } from '../server/contract/password-rules.ts';
import { inEnglish } from '../server/contract/phrases.ts';
import { freshSettings } from '../server/contract/settings.ts';
import { createUser } from '../server/contract/users.ts';
import { createCommonPasswords, IS_COMMON } from '../server/features/people/credentials/common-passwords.ts';

export const REALM = 'demo';
export const PERSON = 'alice';
const NAMES = { username: PERSON, email: 'alice@example.com', firstName: 'Alice', lastName: 'Liddell' };

/** The password policy's objections to the demo user's password, found before the server starts. */
export async function personFaults(password: string): Promise<string[]> {
  const faults = passwordFaults(password, freshSettings(REALM), NAMES);
  if (faults.length > 0 || !(await createCommonPasswords().has(password, NAMES))) return faults.map(inEnglish);
  return [inEnglish(IS_COMMON)];
}

/** Does nothing if alice exists already: her data must stay. */
export async function seedPerson(client: Client, password: string): Promise<void> {
  const body = {
    ...NAMES,
    emailVerified: true,
    enabled: true,
    password,
  };
  try {
    await client.call(createUser, { params: { realm: REALM }, body });
  } catch (error) {
    if (!(error instanceof ServerProblem && error.status === 409)) throw error;
  }
}
