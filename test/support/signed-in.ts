// Owns: an administrator's session at the admin API: cookies, and the header against forged requests.
// Does not own: the server that it is at (server.ts, test/node).
// Implements: tests at the level of use.
import { type Client, createClient } from '../../server/contract/client.ts';

/** A contract client over real HTTP that keeps cookies and answers CSRF as a browser's script would. */
export async function signedIn(baseUrl: string, credentials: object): Promise<Client> {
  const jar = new Map<string, string>();
  const keep = (response: Response) => {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return response;
  };
  const login = keep(
    await fetch(`${baseUrl}/admin/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    }),
  );
  if (login.status !== 204) throw new Error(`admin login: ${login.status} ${await login.text()}`);
  return createClient({
    baseUrl,
    authorize: async () => '',
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.delete('authorization');
      headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
      headers.set('x-xsrf-token', jar.get('XSRF-TOKEN') ?? '');
      return keep(await fetch(input, { ...init, headers }));
    },
  });
}
