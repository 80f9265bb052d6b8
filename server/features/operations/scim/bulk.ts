// Bulk (RFC 7644 §3.7): several writes, each in a transaction of its own, like single requests. An operation that
// refers to another's `bulkId` runs after it; operations that wait for each other are refused.
import { isObject } from '../../../contract/json.ts';
import { Problem } from '../../../contract/problem.ts';
import { BULK_RESPONSE, type ScimBulk, type ScimBulkResponse, ScimPatch, scimLimits } from '../../../contract/scim.ts';
import { expectedTag } from '../../../http/etag.ts';
import { scimErrorOf } from '../../../http/scim-error.ts';
import type { Answer } from './answer.ts';
import type { Values } from './body.ts';
import type { Caller } from './caller.ts';
import { scimProblem } from './fault.ts';
import type { ScimGroups } from './groups.ts';
import type { ScimUsers } from './users.ts';

type Operation = ScimBulk['Operations'][number];
type Result = ScimBulkResponse['Operations'][number];
interface Done {
  status: number;
  location: string;
  version?: string | undefined;
}

const REFERENCE = /^bulkId:(.+)$/;
const ADDRESS = /^\/?(Users|Groups)(?:\/([^/?]+))?$/i;
const nothing = {};

/** Every text in the data, at any depth; the depth of a request's body is limited. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(texts);
  return isObject(value) ? Object.values(value).flatMap(texts) : [];
}
const referencesOf = ({ path, data }: Operation): string[] =>
  [...path.split('/'), ...texts(data)].flatMap((text) => REFERENCE.exec(text)?.[1] ?? []);

function replaced(value: unknown, idOf: (text: string) => string): unknown {
  if (typeof value === 'string') return idOf(value);
  if (Array.isArray(value)) return value.map((one) => replaced(one, idOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one, idOf)]));
}

export interface BulkDeps {
  users: ScimUsers;
  groups: ScimGroups;
  baseOf(realm: string): string;
  /** Logs a fault of the server itself. */
  failed(error: unknown): void;
}

export function createBulk({ users, groups, baseOf, failed }: BulkDeps) {
  async function runOperation(
    caller: Caller,
    realm: string,
    { method, path, data, version }: Operation,
  ): Promise<Done> {
    const [, name = '', id] = ADDRESS.exec(path) ?? [];
    if (name === '' || (id === undefined) !== (method === 'POST'))
      throw scimProblem('invalidValue', `${method} ${path} is no operation: POST /Users, PUT /Users/ID and so on`);
    const isUsers = name.toLowerCase() === 'users';
    const as = { ...caller, expect: expectedTag(version), conditional: version !== undefined };
    const body: Values = data ?? {};
    const done = (status: number, answer: Answer): Done => ({ status, ...answer });
    if (id === undefined) return done(201, await (isUsers ? users : groups).create(as, realm, body, nothing));
    const location = `${baseOf(realm)}/${isUsers ? 'Users' : 'Groups'}/${id}`;
    if (method === 'DELETE') {
      await (isUsers ? users : groups).remove(as, realm, id);
      return { status: 204, location };
    }
    if (method === 'PUT') return done(200, await (isUsers ? users : groups).replace(as, realm, id, body, nothing));
    const patch = ScimPatch.safeParse(body);
    if (!patch.success) throw scimProblem('invalidSyntax', 'data must be a PatchOp with Operations');
    if (isUsers) return done(200, await users.patch(as, realm, id, patch.data.Operations, nothing));
    await groups.patch(as, realm, id, patch.data.Operations);
    return { status: 204, location };
  }

  return async (caller: Caller, realm: string, { failOnErrors, Operations }: ScimBulk): Promise<ScimBulkResponse> => {
    if (Operations.length > scimLimits.operations)
      throw new Problem('too-large', `A request has at most ${scimLimits.operations} operations`);
    const makers = new Map<string, number>();
    for (const [i, { bulkId, method }] of Operations.entries())
      if (bulkId !== undefined && method === 'POST') {
        if (makers.has(bulkId)) throw scimProblem('invalidSyntax', `Two operations have the bulkId ${bulkId}`);
        makers.set(bulkId, i);
      }
    const ids = new Map<string, string>();
    const results: (Result | undefined)[] = [];
    const begun = new Set<number>();
    let errors = 0;
    const goesOn = () => failOnErrors === undefined || errors < failOnErrors;

    const idOf = (text: string): string => {
      const [, name] = REFERENCE.exec(text) ?? [];
      if (name === undefined) return text;
      const id = ids.get(name);
      if (id === undefined) throw new Problem('wrong-state', `Nothing was made by the bulkId ${name}`);
      return id;
    };

    async function run(at: number): Promise<void> {
      const operation = Operations[at];
      if (!operation || begun.has(at) || !goesOn()) return;
      begun.add(at);
      for (const name of referencesOf(operation)) {
        const maker = makers.get(name);
        if (maker !== undefined) await run(maker);
      }
      if (!goesOn()) return;
      const { method, bulkId, path, data } = operation;
      const said = { method, ...(bulkId !== undefined && { bulkId }) };
      try {
        const known = {
          ...operation,
          path: path.split('/').map(idOf).join('/'),
          data: data && (replaced(data, idOf) as Values),
        };
        const { status, location, version } = await runOperation(caller, realm, known);
        if (bulkId !== undefined) ids.set(bulkId, location.slice(location.lastIndexOf('/') + 1));
        results[at] = { ...said, location, ...(version !== undefined && { version }), status: String(status) };
      } catch (error) {
        errors += 1;
        const response = scimErrorOf(error);
        if (Number(response.status) >= 500) failed(error);
        const known = method !== 'POST' && !path.includes('bulkId:');
        const location = known ? { location: `${baseOf(realm)}/${path.replace(/^\//, '')}` } : {};
        results[at] = { ...said, ...location, status: response.status, response };
      }
    }
    for (const at of Operations.keys()) await run(at);
    return { schemas: [BULK_RESPONSE], Operations: results.filter((result) => result !== undefined) };
  };
}
export type Bulk = ReturnType<typeof createBulk>;
