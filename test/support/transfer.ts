// Owns: speaking to import and export as tests need it: any bytes in, the very bytes out, problems as values.
// Does not own: the server (server.ts).
// Implements: tests of decisions "Import, export, plan".
import { z } from 'zod';
import { FieldError } from '../../server/contract/problem.ts';
import { Plan } from '../../server/contract/transfer.ts';
import { ADMIN_PASSWORD, type TestServer } from './server.ts';
import { adminSession } from './signed-in.ts';

export type Query = Partial<Record<'dryRun' | 'manager' | 'prune' | 'force', string>>;

const Refusal = z.looseObject({
  type: z.string(),
  status: z.number(),
  detail: z.string().optional(),
  errors: z.array(FieldError).optional(),
  conflicts: z.array(z.record(z.string(), z.unknown())).optional(),
  missing: z.array(z.string()).optional(),
});
export type Refusal = z.infer<typeof Refusal>;

export interface Importer {
  /** The plan; a refusal throws. */
  apply(realm: string, document: object, query?: Query, headers?: Record<string, string>): Promise<Plan>;
  /** The refusal; a plan throws. */
  refusal(realm: string, document: object | string, query?: Query, headers?: Record<string, string>): Promise<Refusal>;
  /** The very bytes. */
  download(realm: string, query?: string): Promise<string>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** For a request that a test sends itself. */
  raw(path: string): { url: string; headers: Record<string, string> };
}

/** Signs in at the admin API and sends what it is told, with cookies and CSRF header. */
export async function importer(
  server: TestServer,
  credentials: object = { username: 'admin', password: ADMIN_PASSWORD },
): Promise<Importer> {
  const json = { 'content-type': 'application/json' };
  const session = await adminSession(server.baseUrl, credentials);
  const call = (path: string, init?: RequestInit) => session.fetch(server.baseUrl + path, init);
  const send = (realm: string, document: object | string, query: Query = {}, headers: Record<string, string> = {}) => {
    return call(`/admin/realms/${realm}/import?${new URLSearchParams(query)}`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: typeof document === 'string' ? document : JSON.stringify(document),
    });
  };
  return {
    fetch: call,
    raw: (path) => ({ url: server.baseUrl + path, headers: { ...json, ...session.headers() } }),
    async apply(realm, document, query, headers) {
      const response = await send(realm, document, query, headers);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`import: ${response.status} ${text}`);
      return Plan.parse(JSON.parse(text));
    },
    async refusal(realm, document, query, headers) {
      const response = await send(realm, document, query, headers);
      const text = await response.text();
      if (response.status === 200) throw new Error(`it was accepted: ${text}`);
      return Refusal.parse(JSON.parse(text));
    },
    async download(realm, query = '') {
      const response = await call(`/admin/realms/${realm}/export${query}`);
      if (response.status !== 200) throw new Error(`export: ${response.status} ${await response.text()}`);
      return response.text();
    },
  };
}
