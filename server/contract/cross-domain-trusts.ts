// Cross-domain trusts: the other issuers by whose grants a client of the realm gets access tokens for the realm's users. RFC 7523
// §2.1; draft-ietf-oauth-identity-assertion-authz-grant (ID-JAG), draft-ietf-oauth-identity-chaining. Decisions "Cross-domain trust".
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { DomainIssuer } from './cross-domain-policies.ts';
import { DetailTypeName } from './detail-type-name.ts';
import { kind } from './kind.ts';
import { name, ScopeName } from './names.ts';
import { DomainName } from './organizations.ts';
import { ResourceIndicator } from './settings.ts';

export const crossDomainTrusts = kind({
  section: 'crossDomainTrusts',
  kind: 'crossDomainTrust',
  one: 'a cross-domain trust',
  many: 'cross-domain trusts',
  description: 'Issuers of other domains by whose grants clients act for users here',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm'),
    enabled: z.boolean().describe('false: no grant of the issuer counts by it'),
    issuer: DomainIssuer.describe('The exact `iss` of its grants'),
    jwksUri: DomainIssuer.nullable().describe(
      'Where the issuer publishes its keys; null: by discovery from the issuer',
    ),
    clientId: ClientId.describe(
      'The client of this realm that may redeem its grants; one trust for each issuer and client',
    ),
    tokenTypes: z
      .array(z.enum(['id-jag', 'jwt', 'untyped']))
      .min(1)
      .max(3)
      .describe(
        'The grants that count: id-jag has the `typ` oauth-id-jag+jwt, jwt authorization-grant+jwt; untyped, for issuers that give their grants no type of their own',
      ),
    scopes: z.array(ScopeName).max(200).describe('The most scopes of an access token; the client must have them, too'),
    resources: z
      .array(ResourceIndicator)
      .max(100)
      .describe('The most resources of an access token; empty: those that the client may use'),
    authorizationDetailsTypes: z
      .array(DetailTypeName)
      .max(100)
      .describe('The most types of authorization details; the client must have them, too'),
    identityProvider: name(255)
      .nullable()
      .describe('Alias of the identity provider whose links say which user the `sub` of a grant is'),
    emailDomains: z
      .array(DomainName)
      .max(100)
      .describe(
        'Domains of addresses: a confirmed address in one of them names the user whose confirmed address it is, without a link; empty: no address does',
      ),
    trustEmail: z.boolean().describe('Whether an address counts as confirmed, also if the grant does not say so'),
    trustAuthentication: z
      .boolean()
      .describe('Whether access tokens repeat the grant’s `acr` and `amr`; false: they have the lowest level'),
  },
  needed: ['issuer', 'clientId'],
  fresh: { enabled: true, tokenTypes: ['id-jag'], trustEmail: false, trustAuthentication: false },
  names: { clientId: 'client', identityProvider: 'identityProvider' },
  searches: ['name', 'issuer'],
  most: 5000,
  mostInResource: 200,
  problems: ['privilege-escalation'],
  describe: {
    create:
      'Trust an issuer to say for whom a client acts; the caller must hold `users:write`, and all rights of the client and of the users',
  },
  form: {
    lead: 'Other domains that say for which users applications act here, without a sign-in',
    groups: [
      { title: 'General', fields: ['name', 'enabled', 'issuer', 'jwksUri', 'clientId', 'tokenTypes'] },
      { title: 'Access', fields: ['scopes', 'resources', 'authorizationDetailsTypes'] },
      { title: 'Users', fields: ['identityProvider', 'emailDomains', 'trustEmail', 'trustAuthentication'] },
    ],
  },
  example: {
    name: 'acme-idp',
    issuer: 'https://idp.acme.example',
    clientId: 'deployer',
    scopes: ['email'],
    emailDomains: ['acme.example'],
  },
  updateExample: {
    enabled: false,
    issuer: 'https://login.acme.example',
    jwksUri: 'https://login.acme.example/keys',
    tokenTypes: ['jwt', 'untyped'],
    scopes: ['profile'],
    resources: ['https://files.example.com'],
    authorizationDetailsTypes: ['payment_initiation'],
    emailDomains: ['other.example'],
    trustEmail: true,
    trustAuthentication: true,
  },
  cli: {
    plural: 'cross-domain-trusts',
    singular: 'cross-domain-trust',
    help: 'issuers of other domains by whose grants clients act for users here',
    shown: ['clientId', 'enabled', 'issuer', 'scopes'],
    heads: { name: 'TRUST', clientId: 'CLIENT' },
  },
});
export const {
  list: listCrossDomainTrusts,
  create: createCrossDomainTrust,
  get: getCrossDomainTrust,
  put: putCrossDomainTrust,
  remove: deleteCrossDomainTrust,
} = crossDomainTrusts.routes;
