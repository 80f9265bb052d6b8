// Transaction token policies: which client may get transaction tokens of which trust domain, for which scopes.
// draft-ietf-oauth-transaction-tokens; decisions "Transaction token policy".
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { kind } from './kind.ts';
import { name, ScopeName } from './names.ts';
import { MOST_GRANT_SECONDS } from './token-types.ts';

/** The name of a trust domain, which is the `aud` of its tokens: a host name, or a URI that is no address of this server. */
export const TrustDomain = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks')
  .refine(
    (s) => !/^https?:/i.test(s),
    'must be no http address, since a resource server could take the token for its own',
  );

export const transactionTokenPolicies = kind({
  section: 'transactionTokenPolicies',
  kind: 'transactionTokenPolicy',
  one: 'a transaction token policy',
  many: 'transaction token policies',
  description: 'Which clients may get transaction tokens of which trust domains',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm'),
    enabled: z.boolean().describe('false: the client gets no token by it'),
    clientId: ClientId.describe('The workload’s client, which asks for the tokens'),
    trustDomain: TrustDomain.describe('The `aud` of the tokens; one policy for each client and trust domain'),
    scopes: z
      .record(ScopeName, z.array(ScopeName).min(1).max(50))
      .refine((all) => Object.keys(all).length <= 200, 'must have at most 200 scopes')
      .describe(
        'By the scope of the transaction, the scopes of the access token that permit it: each of them must be there',
      ),
    replaces: z
      .boolean()
      .describe('Whether the client may exchange a transaction token for another one, which never permits more'),
    ttlSeconds: z.int().min(5).max(MOST_GRANT_SECONDS).describe('How long a token is valid, at most five minutes'),
  },
  needed: ['clientId', 'trustDomain', 'scopes'],
  fresh: { enabled: true, replaces: false, ttlSeconds: 60 },
  names: { clientId: 'client' },
  searches: ['name', 'trustDomain'],
  most: 5000,
  mostInResource: 200,
  problems: ['privilege-escalation'],
  form: {
    lead: 'Workloads that carry a user’s request from service to service by transaction tokens',
    fields: { scopes: { widget: 'json' }, ttlSeconds: { widget: 'duration' } },
  },
  example: {
    name: 'gateway',
    clientId: 'deployer',
    trustDomain: 'shop.internal',
    scopes: { 'orders.place': ['email'] },
  },
  updateExample: {
    enabled: false,
    trustDomain: 'bank.internal',
    scopes: { 'orders.read': ['profile', 'email'] },
    replaces: true,
    ttlSeconds: 30,
  },
  cli: {
    plural: 'transaction-token-policies',
    singular: 'transaction-token-policy',
    help: 'which clients may get transaction tokens of which trust domains',
    shown: ['clientId', 'enabled', 'trustDomain', 'replaces'],
    heads: { name: 'POLICY', clientId: 'CLIENT' },
  },
});
export const {
  list: listTransactionTokenPolicies,
  create: createTransactionTokenPolicy,
  get: getTransactionTokenPolicy,
  put: putTransactionTokenPolicy,
  remove: deleteTransactionTokenPolicy,
} = transactionTokenPolicies.routes;
