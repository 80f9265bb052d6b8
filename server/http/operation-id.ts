// An operation's name in generated clients, from its method and path alone: `GET /admin/realms/:realm/webhooks/:id` is
// `getWebhook`. If that name would be wrong, the route states its own (contract/route.ts, `operationId`). Pure.
import type { Method } from '../contract/route.ts';

interface Operation {
  method: Method;
  /** The path in Fastify's form, from the root. */
  path: string;
  operationId?: string | undefined;
  /** Whether the route returns a list. */
  lists: boolean;
  /** Whether the route creates an object below the path. */
  creates: boolean;
  hasBody: boolean;
}

const isParameter = (segment: string): boolean => /^[:*]/.test(segment);
const camel = (segment: string): string => segment.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

export function operationIdOf({ method, path, operationId, lists, creates, hasBody }: Operation): string {
  if (operationId !== undefined) return operationId;
  const segments = path.replace(/^\/admin\/(realms\/:realm\/(?=.))?/, '').split('/');
  const words = segments.flatMap((segment, at) => {
    if (isParameter(segment)) return [];
    const following = segments[at + 1];
    return [capital(camel(following !== undefined && isParameter(following) ? singular(segment) : segment))];
  });
  const last = words.at(-1) ?? '';
  if (method === 'GET') return (lists ? 'list' : 'get') + words.join('');
  if (method === 'PUT') return (hasBody ? 'update' : 'add') + words.join('');
  if (method === 'POST' && creates) return `create${words.slice(0, -1).join('')}${singular(last)}`;
  // `keys/rotate`: an action is the last word of its path
  if (method === 'POST') return last.charAt(0).toLowerCase() + last.slice(1) + words.slice(0, -1).join('');
  return method.toLowerCase() + words.join('');
}
