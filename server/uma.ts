// The composition root's part for User-Managed Access: the grant at the token endpoint, the protection API, what introspection
// says of its tokens. It decides nothing; rules are the features'.
import type { FastifyInstance } from 'fastify';
import type { Subjects } from './domain/subjects.ts';
import { createDecisions } from './features/configuration/authorization-services/decisions.ts';
import type { Tokens } from './features/configuration/issued-tokens/service.ts';
import type { Send } from './features/configuration/messaging/send.ts';
import { type UmaGrantDeps, umaGrant } from './features/protocol/uma/grant.ts';
import { createShown } from './features/protocol/uma/introspected.ts';
import { createProtection, type ProtectionDeps } from './features/protocol/uma/protection.ts';
import { protectionRoutes } from './features/protocol/uma/protection-routes.ts';
import { createRequesters } from './features/protocol/uma/requester.ts';
import { createSharing } from './features/protocol/uma/sharing.ts';
import { guardProtocol } from './http/oauth.ts';

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
