// Owns: an administrator's session at the admin API: cookies, and the header against forged requests.
// Does not own: the server that it is at (server.ts, test/node).
// Implements: tests at the level of use.
import { type Client, createClient } from '../../server/contract/client.ts';

/** The headers' values by which a request belongs to a session. */
export interface AdminSession {
  cookie: string;
  'x-xsrf-token': string;
}

/** Signs in over real HTTP. `fetch` keeps cookies and answers CSRF as a browser's script would; `headers` are for other requests. */
export async function adminSession(
  baseUrl: string,
  credentials: object,
): Promise<{ fetch: typeof fetch; headers(): AdminSession }> {
  const jar = new Map<string, string>();
  const keep = (response: Response) => {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return response;
  };
  const headersOf = (): AdminSession => ({
    cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
    'x-xsrf-token': jar.get('XSRF-TOKEN') ?? '',
  });
  const login = keep(
    await fetch(`${baseUrl}/admin/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    }),
  );
  if (login.status !== 204) throw new Error(`admin login: ${login.status} ${await login.text()}`);
  return {
    headers: headersOf,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(headersOf())) headers.set(name, value);
      return keep(await fetch(input, { ...init, headers }));
    },
  };
}

/** A contract client that is signed in so. */
export async function signedIn(baseUrl: string, credentials: object): Promise<Client> {
  const session = await adminSession(baseUrl, credentials);
  return createClient({
    baseUrl,
    authorize: async () => '',
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.delete('authorization');
      return session.fetch(input, { ...init, headers });
    },
  });
}
