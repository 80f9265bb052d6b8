// The SCIM surface, /realms/{realm}/scim/v2/**. In order: the realm exists, the token's owner, its permission to read
// or write, the handler. A user's access token reaches only /Me. Specification 4.11, 5; decisions "SCIM token",
// "Errors".
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { By, Party } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { AccountHolder } from '../../../domain/principal.ts';
import { acceptEmptyJson } from '../../../http/json-body.ts';
import { bearerOf, realmOf } from '../../../http/oauth.ts';
import { type PresentedToken, presentedBy } from '../../../http/presented-token.ts';
import { problemOf } from '../../../http/problems.ts';
import { sendScimError } from '../../../http/scim-error.ts';
import { mountSurface } from '../../../http/surface.ts';
import type { PersonGuard } from '../../authentication/account/surface.ts';
import type { Provisioner } from './tokens.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the SCIM surface. */
    provisioner?: Provisioner;
  }
}

export interface ScimSurface {
  realmExists(realm: string): Promise<boolean>;
  find(realm: string, token: string): Promise<Provisioner | undefined>;
  /** The user of an access token. @throws Problem `insufficient-scope` */
  byToken(realm: string, token: PresentedToken): Promise<AccountHolder | undefined>;
  /** The conditions of every action that users do themselves. */
  person: PersonGuard;
  /** Audits a denied request (ACCESS_DENIED). */
  denied(attempt: { realm: string; by: By; permission: string; method: string; path: string }): Promise<void>;
}

const partyOf = ({ id, name }: Provisioner): Party => ({ type: 'system', id, name: `SCIM token ${name}` });

/** The request's provisioning client; the surface has authenticated it. */
export function provisionerOf(request: FastifyRequest): Provisioner {
  if (!request.provisioner) throw new Error(`${request.routeOptions.url} is not for a SCIM token`);
  return request.provisioner;
}

/** Hooks for every route of `app` (an encapsulated plugin). */
export function guardScim(app: FastifyInstance, { realmExists, find, byToken, person, denied }: ScimSurface): void {
  acceptEmptyJson(app, 'application/scim+json');
  mountSurface(app, {
    name: 'scim',
    failed(error, request, reply) {
      // Only administrators issue SCIM tokens; no endpoint does. So the challenge names no metadata.
      const challenge =
        request.routeOptions.config.contract?.principal === 'person'
          ? person.challenge(error, request)
          : problemOf(error).status === 401 && `Bearer realm="${realmOf(request)}"`;
      if (challenge) void reply.header('www-authenticate', challenge);
      return sendScimError(error, request, reply);
    },
    async arrive(request) {
      if (!(await realmExists(realmOf(request)))) throw new Problem('not-found', 'There is no such realm');
    },
    async identify(request) {
      const realm = realmOf(request);
      if (request.routeOptions.config.contract?.principal === 'person') {
        const presented = presentedBy(request);
        person.arrived(request, presented && (await byToken(realm, presented)));
        return;
      }
      const token = bearerOf(request);
      const provisioner = token === undefined ? undefined : await find(realm, token);
      if (!provisioner) throw new Problem('unauthenticated', 'Send a SCIM token of the realm as Authorization: Bearer');
      request.provisioner = provisioner;
      request.party = partyOf(provisioner);
    },
    async permit(request, contract) {
      const { principal, method, recordsNothing } = contract;
      if (principal === 'person') person.permit(request, contract);
      if (principal !== 'own-token') return;
      const needed = method === 'GET' || recordsNothing ? 'read' : 'write';
      const provisioner = provisionerOf(request);
      if (provisioner.permissions.includes(needed)) return;
      const by = { actor: partyOf(provisioner), ipAddress: request.ip };
      const path = request.url.split('?')[0] ?? '';
      await denied({ realm: realmOf(request), by, permission: `scim:${needed}`, method: request.method, path });
      throw new Problem('forbidden', `This token may not ${needed}`);
    },
  });
}
