// The managers of an object in its own answer, only where a request asks for them: `?with=managedBy`.
// Decisions "Ownership".
import { z } from 'zod';
import { Page, SearchPage } from './names.ts';
import type { Route } from './route.ts';

export const ManagedBy = z
  .array(
    z.object({
      manager: z.string().describe('Its name, as in the list of managers'),
      fields: z.array(z.string()).describe('The fields that its document declares'),
    }),
  )
  .describe('With `?with=managedBy`: each manager with its fields; empty: no manager owns any of it')
  .meta({ id: 'ManagedBy' });
export type ManagedBy = z.infer<typeof ManagedBy>;

/** The field of every answer that can name managers; a PUT takes it back and ignores it. */
export const managedBy = { managedBy: ManagedBy.optional() };

const asked = {
  with: z
    .enum(['managedBy'])
    .optional()
    .describe('What an answer holds besides: `managedBy`, the managers and the fields that each of them declares'),
};
/** The query of a single object that can name its managers. */
export const WithManagers = z.strictObject(asked);
/** The queries of lists whose objects can name their managers. */
export const ManagedPage = Page.extend(asked);
export const ManagedSearchPage = SearchPage.extend(asked);
/** Whether the answers of a route can name managers. Other lists have a parameter `with` for other fields. */
export const canNameManagers = ({ query }: Pick<Route, 'query'>): boolean =>
  query instanceof z.ZodObject && query.shape.with === asked.with;
