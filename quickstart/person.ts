// The one demonstration person: made once, through the admin API, as an administrator would.
// Decisions "Where it listens, what it reads".
import { type Client, ServerProblem } from '../server/contract/client.ts';
import { passwordFaults } from '../server/contract/password-rules.ts';
import { freshSettings } from '../server/contract/settings.ts';
import { createUser } from '../server/contract/users.ts';

export const REALM = 'demo';
export const PERSON = 'alice';
const EMAIL = 'alice@example.com';

/** What the demonstration's realm would refuse of a password: better said before anything is started. */
export const personFaults = (password: string): string[] =>
  passwordFaults(password, freshSettings(REALM), { username: PERSON, email: EMAIL });

/** Does nothing where alice exists already: people's data is theirs. */
export async function seedPerson(client: Client, password: string): Promise<void> {
  const body = {
    username: PERSON,
    email: EMAIL,
    emailVerified: true,
    firstName: 'Alice',
    lastName: 'Liddell',
    enabled: true,
    password,
  };
  try {
    await client.call(createUser, { params: { realm: REALM }, body });
  } catch (error) {
    if (!(error instanceof ServerProblem && error.status === 409)) throw error;
  }
}
