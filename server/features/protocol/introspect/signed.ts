// The answer of introspection as a JWT that the realm signs for the resource server, and encrypts if it has registered how.
// RFC 9701 §4, §5.
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Encrypted } from '../../configuration/issued-tokens/encryption.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';

export const INTROSPECTION_JWT = 'application/token-introspection+jwt';

/** The weight of a type in an Accept header (RFC 9110 §12.5.1); 0: it isn't named, or not wanted. */
function qualityOf(type: string, accept: string): number {
  const ranges = accept.split(',').map((range) =>
    range
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  const [, ...parameters] = ranges.find(([name]) => name === type) ?? ['', 'q=0'];
  const quality = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1';
  return Number(quality) || 0;
}

/** Whether the request asks for the JWT, by its name and not less than for JSON. */
export function wantsJwt(accept = ''): boolean {
  const quality = qualityOf(INTROSPECTION_JWT, accept);
  return quality > 0 && quality >= qualityOf('application/json', accept);
}

export const createSignedIntrospection =
  ({
    tokens,
    encrypted,
    settings,
    now,
  }: {
    tokens: Pick<Tokens, 'sign'>;
    encrypted: Encrypted;
    settings: { issuer(realm: string): Promise<string> };
    now: () => Date;
  }) =>
  async (realm: string, client: ClientView, found: object): Promise<string> => {
    // §5, §8.1: neither sub nor exp beside the answer, so that it can't be used as a token.
    const claims = {
      iss: await settings.issuer(realm),
      aud: client.clientId,
      iat: Math.floor(now().getTime() / 1000),
      token_introspection: found,
    };
    const algorithm = client.introspectionSignedResponseAlg;
    const signed = await tokens.sign(realm, { typ: 'token-introspection+jwt', algorithm }, claims);
    return encrypted(client, 'introspection', signed, 'JWT');
  };
export type SignedIntrospection = ReturnType<typeof createSignedIntrospection>;
