// A section of the account page that another feature brings, with what can be done there.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Html } from '../../../http/html.ts';
import type { LiveSession, SsoSession } from '../../people/sessions/service.ts';
import type { Prove } from './freshness.ts';
import type { SectionParts } from './sections.ts';

/** Whose account it is, once their form was found to be their own. */
export type Visit = (request: FastifyRequest) => Promise<{ realm: string; session: LiveSession | undefined }>;

export interface AccountSection {
  /** @param mayChange false: somebody else acts for the person */
  show(realm: string, session: SsoSession, parts: SectionParts & { mayChange: boolean }): Promise<Html | false>;
  mount(app: FastifyInstance, visit: Visit, freshness: { prove: Prove; isFresh(session: LiveSession): boolean }): void;
}
