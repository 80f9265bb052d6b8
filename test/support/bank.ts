// Owns: an application with keys of its own, as banks have them: assertions, requests and proofs that it signs, by hand and by
// openid-client.
// Does not own: what a realm holds it to (features/configuration/clients/profile.ts), proofs of a key (dpop.ts).
// Implements: tests of security profiles and of what is signed and encrypted for clients.
import { type CryptoKey, exportJWK, generateKeyPair, type JSONWebKeySet, type JWK, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { z } from 'zod';
import type { ClientInput } from '../../server/contract/clients.ts';
import { type Answer, makeClient, post } from './clients.ts';
import type { ProofKey } from './dpop.ts';
import type { TestServer } from './server.ts';

export const BANK = 'https://bank.example/cb';
export const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface Keys {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  jwk: JWK;
}
export async function makeKeys(alg: string, kid = alg): Promise<Keys> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string(), use: z.string() })) });
/** The keys that a realm publishes. */
export const keySetOf = async (issuer: string): Promise<JSONWebKeySet> =>
  KeySet.parse(await (await fetch(`${issuer}/oauth2/jwks`)).json());

const seconds = (now: Date) => Math.floor(now.getTime() / 1000);

export function createBank(
  server: TestServer,
  { realm, clientId, keys, now = () => new Date() }: { realm: string; clientId: string; keys: Keys; now?: () => Date },
) {
  const issuer = `${server.baseUrl}/realms/${realm}`;
  const signed = (claims: object, typ: string, by = keys) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: by.alg, kid: by.kid, typ }).sign(by.privateKey);
  const assertion = (claims: object = {}, by?: Keys) =>
    signed(
      {
        iss: clientId,
        sub: clientId,
        aud: issuer,
        jti: crypto.randomUUID(),
        iat: seconds(now()),
        exp: seconds(now()) + 60,
        ...claims,
      },
      'JWT',
      by,
    );
  const proof = async (key: ProofKey, path: string, nonce?: string) =>
    key.proof({ htu: `${issuer}/oauth2/${path}`, claims: { iat: seconds(now()), ...(nonce && { nonce }) } });

  return {
    issuer,
    assertion,

    /** The request as a JWT. */
    object: (parameters: object, claims: object = {}, by?: Keys) =>
      signed(
        {
          iss: clientId,
          aud: issuer,
          nbf: seconds(now()),
          exp: seconds(now()) + 300,
          client_id: clientId,
          ...parameters,
          ...claims,
        },
        'oauth-authz-req+jwt',
        by,
      ),

    /** Posts to an endpoint with an assertion, and with a proof of `key` for which it asks the server's nonce. */
    async post(
      path: string,
      form: Record<string, string>,
      { key, headers = {}, ...by }: { key?: ProofKey; headers?: Record<string, string>; assertion?: string } = {},
    ): Promise<Answer> {
      const send = async (nonce?: string) =>
        post(
          server,
          realm,
          path,
          {
            client_assertion_type: ASSERTION,
            client_assertion: by.assertion ?? (await assertion()),
            ...form,
          },
          { ...headers, ...(key && { dpop: await proof(key, path, nonce) }) },
        );
      const answer = await send();
      if (!key || answer.body.error !== 'use_dpop_nonce' || by.assertion !== undefined) return answer;
      return send(answer.headers.get('dpop-nonce') ?? '');
    },

    /** openid-client in this application's place. */
    configuration: (metadata: Partial<oidc.ClientMetadata> = {}): Promise<oidc.Configuration> =>
      oidc.discovery(
        new URL(issuer),
        clientId,
        metadata,
        oidc.PrivateKeyJwt(
          { key: keys.privateKey, kid: keys.kid },
          // The draft that the profile follows: the issuer, as one text.
          {
            [oidc.modifyAssertion]: (_, claims) => {
              claims.aud = issuer;
            },
          },
        ),
        { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] },
      ),
  };
}
export type Bank = ReturnType<typeof createBank>;

/** The client of {@link createBank}. */
export const makeBankClient = (
  server: TestServer,
  realm: string,
  { clientId, keys, ...more }: { clientId: string; keys: readonly Keys[] } & Partial<ClientInput>,
): Promise<string> =>
  makeClient(server, realm, {
    clientId,
    tokenEndpointAuthMethod: 'private_key_jwt',
    redirectUris: [BANK],
    grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
    jwks: { keys: keys.map(({ jwk }) => jwk) },
    ...more,
  });
