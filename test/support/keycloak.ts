// Owns: sending what Keycloak exported, and signing in as its people.
// Does not own: the exports (test/server/features/keycloak).
import { KeycloakPlan } from '../../server/contract/keycloak.ts';
import { createPerson, type Person, type ShownPage } from './person.ts';
import type { TestServer } from './server.ts';
import type { Importer } from './transfer.ts';

type Sender = Pick<Importer, 'fetch'>;

export const sendKeycloak = ({ fetch }: Sender, realm: string, body: string, query: Record<string, string> = {}) =>
  fetch(`/admin/realms/${realm}/import/keycloak?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

/** Imports a file, which the server must accept. */
export async function importKeycloak(
  admin: Sender,
  realm: string,
  body: string,
  query?: Record<string, string>,
): Promise<KeycloakPlan> {
  const response = await sendKeycloak(admin, realm, body, query);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`import: ${response.status} ${text}`);
  return KeycloakPlan.parse(JSON.parse(text));
}

/** On the realm's own page, in a browser of their own. */
export async function signInAs(
  { baseUrl }: Pick<TestServer, 'baseUrl'>,
  realm: string,
  username: string,
  password: string,
): Promise<{ person: Person; page: ShownPage }> {
  const person = createPerson(baseUrl);
  const page = await person.open(`/realms/${realm}/login`);
  return { person, page: await person.fill(page, { username, password }) };
}
