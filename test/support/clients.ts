// Owns: what OAuth tests need again and again: a realm with clients, form posts, reading a token.
// Does not own: the server (server.ts).
// Implements: tests of the protocol endpoints as an application meets them.

import type { ClientInput } from '../../server/contract/clients.ts';
import { createClient } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import type { TestServer } from './server.ts';

export const SECRET = 'Kq3vT9xZ0bRw7LmY2sHdF5jN8pGcAe4U';

export async function makeRealm(server: TestServer, realm: string): Promise<void> {
  await server.admin.call(createRealm, { body: { realm } });
}

export async function makeClient(server: TestServer, realm: string, client: ClientInput): Promise<string> {
  const { body } = await server.admin.call(createClient, { params: { realm }, body: client });
  return body?.id ?? '';
}

export const basic = (id: string, secret = SECRET): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // what OAuth answers hold
  body: Record<string, unknown>;
}

/** Posts a form to one of a realm's OAuth endpoints. */
export async function post(
  server: TestServer,
  realm: string,
  endpoint: string,
  form: Record<string, string> | URLSearchParams | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/${endpoint}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
  const text = await response.text();
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(text);
  } catch {
    // a page, or nothing
  }
  return { status: response.status, headers: response.headers, text, body };
}

export function claimsIn(token: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString());
}
