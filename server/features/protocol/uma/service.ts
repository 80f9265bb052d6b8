// Composes User-Managed Access: the grant at the token endpoint, the protection API, and the introspection of its
// tokens.
import type { FastifyInstance } from 'fastify';
import type { Subjects } from '../../../domain/subjects.ts';
import { guardProtocol } from '../../../http/oauth.ts';
import { createDecisions } from '../../configuration/authorization-services/decisions.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import { type UmaGrantDeps, umaGrant } from './grant.ts';
import { createShown } from './introspected.ts';
import { createProtection, type ProtectionDeps } from './protection.ts';
import { protectionRoutes } from './protection-routes.ts';
import { createRequesters } from './requester.ts';
import { createSharing } from './sharing.ts';

export interface UmaDeps
  extends Omit<UmaGrantDeps, 'requesters' | 'decisions' | 'sharing'>,
    Omit<ProtectionDeps, 'decisions' | 'tokens' | 'subjects'> {
  tokens: Tokens;
  subjects: Subjects;
  realmExists(realm: string): Promise<boolean>;
  send: Send;
  baseUrl: string;
}

export function createUma(deps: UmaDeps) {
  const { realmExists, baseUrl } = deps;
  const decisions = createDecisions(deps);
  const requesters = createRequesters(deps);
  const sharing = createSharing(deps);
  const protection = createProtection({ ...deps, decisions });
  return {
    grant: umaGrant({ ...deps, requesters, decisions, sharing }),
    sharing,
    protection,
    decisions,
    shown: createShown({ ...deps, decisions }),
    drop: decisions.drop,
    async mount(http: FastifyInstance): Promise<void> {
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl });
        protectionRoutes(app, { protection, baseUrl });
      });
    },
  };
}
export type Uma = ReturnType<typeof createUma>;
