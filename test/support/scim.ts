// Requests to a realm's SCIM server, as provisioning clients send them.
import { createScimToken, type ScimPermission } from '../../server/contract/scim-tokens.ts';
import type { Answer, Received } from './receiver.ts';
import type { TestServer } from './server.ts';

export interface ScimAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a resource, as each test knows it
  body: any;
}
export type Scim = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ScimAnswer>;

export async function scimToken(
  server: TestServer,
  realm: string,
  permissions: ScimPermission[] = ['read', 'write'],
): Promise<string> {
  const { body } = await server.admin.call(createScimToken, {
    params: { realm },
    body: { name: 'entra', permissions },
  });
  return body?.token ?? '';
}

/** @param token undefined: none is sent */
export const scimWith =
  (server: Pick<TestServer, 'baseUrl'>, realm: string, token: string | undefined): Scim =>
  async (method, path, body, headers = {}) => {
    const answer = await fetch(`${server.baseUrl}/realms/${realm}/scim/v2${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
  };

/** Forwards a request to the SCIM server, as a proxy does. @returns its answer; 502 if it doesn't answer */
export async function passOn(
  server: Pick<TestServer, 'baseUrl'>,
  { method, url, headers, raw }: Received,
): Promise<Answer> {
  const answer = await fetch(`${server.baseUrl}${url}`, {
    method,
    headers: {
      authorization: String(headers.authorization),
      ...(raw.length > 0 && { 'content-type': 'application/scim+json' }),
    },
    ...(raw.length > 0 && { body: raw }),
  }).catch(() => undefined);
  return answer ? { status: answer.status, body: await answer.text() } : { status: 502 };
}
