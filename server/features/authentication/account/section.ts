// A section of the account page that another feature adds, with its actions.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Html } from '../../../http/html.ts';
import type { LiveSession, SsoSession } from '../../people/sessions/service.ts';
import type { Prove } from './freshness.ts';
import type { SectionParts } from './sections.ts';
import type { AccountViewName } from './views.ts';

/** The realm and the session of a request whose form was checked. */
export type Visit = (request: FastifyRequest) => Promise<{ realm: string; session: LiveSession | undefined }>;

export interface AccountSection {
  /** The view that contains the section. */
  view: AccountViewName;
  show(realm: string, session: SsoSession, parts: SectionParts): Promise<Html | false>;
  mount(app: FastifyInstance, visit: Visit, freshness: { prove: Prove; isFresh(session: LiveSession): boolean }): void;
}
