// The SCIM client for a target: one object per call, and each call can be repeated safely. RFC 7644 §3.
import { z } from 'zod';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { retryAfterMs } from '../../../http/retry-after.ts';
import type { Values } from './body.ts';

const LIMITS = { timeoutMs: 20_000, maxBytes: 256 * 1024, excess: 'refuse' } as const;
const MOST_MEMBERS = 500;

/** The target as a whole accepts nothing at present. */
export class TargetAway extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
/** The target rejects this object. */
export class ObjectRefused extends Error {}

const Created = z.object({ id: z.string().min(1).max(1000) });
const Found = z.object({
  Resources: z
    .array(
      Created.extend({
        userName: z.unknown().optional(),
        displayName: z.unknown().optional(),
        externalId: z.unknown().optional(),
      }),
    )
    .max(10)
    .default([]),
});
const Fault = z.object({ detail: z.string() });

export type Remote = ReturnType<typeof remoteOf>;

export function remoteOf({
  url,
  token,
  outbound,
}: {
  url: string;
  token: string | undefined;
  outbound: Pick<Outbound, 'fetch'>;
}) {
  const base = url.replace(/(?<!\/)\/+$/, '');

  async function call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) {
    let answer: Awaited<ReturnType<Outbound['fetch']>>;
    try {
      answer = await outbound.fetch(`${base}${path}`, {
        method,
        headers: {
          accept: 'application/scim+json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/scim+json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        ...LIMITS,
      });
    } catch (error) {
      if (error instanceof OutboundError) throw new TargetAway(error.message);
      throw error;
    }
    const { status, headers } = answer;
    if (
      status === 401 ||
      status === 403 ||
      status === 408 ||
      status === 429 ||
      status >= 500 ||
      (status >= 300 && status < 400)
    )
      throw new TargetAway(`answered ${status}`, retryAfterMs(headers.get('retry-after')));
    return { status, text: answer.body.toString() };
  }
  const refused = ({ status, text }: { status: number; text: string }) => {
    const detail = parsed(Fault, text)?.detail;
    return new ObjectRefused(`answered ${status}${detail === undefined ? '' : `: ${detail.slice(0, 300)}`}`);
  };
  const idIn = (answer: { status: number; text: string }): string => {
    const made = parsed(Created, answer.text);
    if (!made) throw new ObjectRefused(`answered ${answer.status} without an id`);
    return made.id;
  };

  /** The target's objects with this name. A target that ignores filters returns others too; they are dropped. */
  async function named(type: Type, name: string) {
    const filter = `${nameOf[type]} eq ${JSON.stringify(name)}`;
    const answer = await call('GET', `/${type}?${new URLSearchParams({ filter })}`);
    const found = answer.status === 200 ? parsed(Found, answer.text)?.Resources : undefined;
    return (found ?? []).filter((one) => String(one[nameOf[type]]).toLowerCase() === name.toLowerCase());
  }

  return {
    /**
     * Creates the object, or adopts an existing one with its name and our id as `externalId`: an earlier call created
     * it, but its id was not stored.
     * @param objectId this server's id
     * @returns the target's id
     */
    async create(type: Type, objectId: string, body: Values): Promise<{ id: string; adopted: boolean }> {
      const answer = await call('POST', `/${type}`, body);
      if (answer.status === 201 || answer.status === 200) return { id: idIn(answer), adopted: false };
      if (answer.status !== 409) throw refused(answer);
      const found = await named(type, String(body[nameOf[type]]));
      const own = found.find(({ externalId }) => externalId === objectId);
      if (own) return { id: own.id, adopted: true };
      throw found.length > 0 ? new ObjectRefused('another object of the target has its name') : refused(answer);
    },
    /** @returns false: the target no longer has the object */
    async replace(id: string, body: Values): Promise<boolean> {
      const answer = await call('PUT', `/Users/${encodeURIComponent(id)}`, body);
      if (answer.status === 404) return false;
      if (answer.status >= 400) throw refused(answer);
      return true;
    },
    /** @returns false: the target no longer has the object */
    async patch(id: string, operations: readonly object[]): Promise<boolean> {
      const answer = await call('PATCH', `/Groups/${encodeURIComponent(id)}`, {
        schemas: [PATCH],
        Operations: operations,
      });
      if (answer.status === 404) return false;
      if (answer.status >= 400) throw refused(answer);
      return true;
    },
    async remove(type: Type, id: string): Promise<void> {
      const answer = await call('DELETE', `/${type}/${encodeURIComponent(id)}`);
      if (answer.status >= 400 && answer.status !== 404) throw refused(answer);
    },
  };
}
export type Type = 'Users' | 'Groups';
const nameOf = { Users: 'userName', Groups: 'displayName' } as const;
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * PATCH operations for members. Each removal names its member in the path: some servers ignore a value beside the path.
 */
export function memberOperations(steps: readonly { remote_id: string; add: boolean }[]): object[][] {
  const added = steps.filter(({ add }) => add).map(({ remote_id }) => ({ value: remote_id }));
  const removed = steps
    .filter(({ add }) => !add)
    .map(({ remote_id }) => ({ op: 'remove', path: `members[value eq ${JSON.stringify(remote_id)}]` }));
  const pieces = <T>(of: readonly T[]): T[][] =>
    Array.from({ length: Math.ceil(of.length / MOST_MEMBERS) }, (_, i) =>
      of.slice(i * MOST_MEMBERS, (i + 1) * MOST_MEMBERS),
    );
  return [...pieces(removed), ...pieces(added).map((value) => [{ op: 'add', path: 'members', value }])];
}
