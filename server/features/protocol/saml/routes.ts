// /realms/{realm}/saml/idp: metadata, sign-on by both bindings or without a request, the return from the sign-in,
// single logout.

import type { FastifyInstance } from 'fastify';
import {
  samlInitiateRoute,
  samlLogoutPostRoute,
  samlLogoutRoute,
  samlMetadataRoute,
  samlSignOnPostRoute,
  samlSignOnRoute,
} from '../../../contract/saml.ts';
import { MOST_RELAY_STATE, RELAY_STATE_TOO_LONG } from '../../../domain/saml-names.ts';
import { parseForm, queryOf } from '../../../http/form.ts';
import { formOf, realmOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { text } from '../../../http/texts.ts';
import type { Finished } from '../../authentication/sign-in/continuation.ts';
import { KeptLogin } from './kept.ts';
import type { SingleLogout } from './logout.ts';
import { consentPath, resumePath } from './paths.ts';
import type { Saml } from './service.ts';

/** Public, so readable from any origin. */
export function samlMetadataRoutes(app: FastifyInstance, saml: Saml): void {
  app.route({
    ...samlMetadataRoute,
    handler: async (request, reply) => {
      const metadata = await saml.metadata(realmOf(request));
      return reply
        .header('content-type', 'application/samlmetadata+xml')
        .header('cache-control', 'no-cache')
        .header('access-control-allow-origin', '*')
        .serializer(String)
        .send(metadata);
    },
  });
}

export function singleLogoutRoutes(app: FastifyInstance, logout: SingleLogout): void {
  app.route({
    ...samlLogoutRoute,
    handler: (request, reply) => logout.byRedirect(request, reply, realmOf(request), queryOf(request.url)),
  });
  app.route({
    ...samlLogoutPostRoute,
    handler: (request, reply) => logout.byPost(request, reply, realmOf(request), formOf(request).text),
  });
}

export function samlRoutes(app: FastifyInstance, { saml, signIns }: { saml: Saml; signIns: Finished }): void {
  app.route({
    ...samlSignOnRoute,
    handler: (request, reply) => saml.begin(request, reply, realmOf(request), queryOf(request.url)),
  });
  app.route({
    ...samlSignOnPostRoute,
    handler: (request, reply) => saml.beginByPost(request, reply, realmOf(request), formOf(request).text),
  });
  app.route({
    ...samlInitiateRoute,
    handler: async (request, reply) => {
      const query = parseForm(queryOf(request.url));
      const relayState = query.get('RelayState');
      if (Buffer.byteLength(relayState ?? '') > MOST_RELAY_STATE)
        throw new OAuthError('invalid_request', RELAY_STATE_TOO_LONG);
      return saml.initiate(request, reply, realmOf(request), { entityId: query.get('entityId') ?? '', relayState });
    },
  });

  app.get('/realms/:realm/saml/idp/sso/resume', { schema: { hide: true } }, async (request, reply) => {
    const realm = realmOf(request);
    const finished = await signIns.take(reply, request, realm, resumePath(realm));
    const kept = KeptLogin.safeParse(finished?.request);
    if (!finished || !kept.success)
      throw new OAuthError('invalid_request', 'The sign-in has expired', {
        page: { told: text('said.expired') },
      });
    return saml.resume(request, reply, realm, { kept: kept.data, signedIn: finished.done });
  });

  app.post(consentPath(':realm'), { schema: { hide: true } }, (request, reply) =>
    saml.consent(request, reply, realmOf(request), formOf(request)),
  );
}
