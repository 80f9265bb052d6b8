// Transactions that a user confirms on a device: the user signs exactly what the device shows, for one application,
// once. Specification 4.11; dynamic linking as in the regulatory technical standards of PSD2, article 5.
import { z } from 'zod';
import { DeviceKey } from './devices.ts';
import {
  EpochMs,
  HIDES,
  Id,
  isAllSeen,
  isComposed,
  isOneLine,
  NOT_COMPOSED,
  name,
  ONE_LINE,
  RealmName,
  text,
} from './names.ts';
import { route } from './route.ts';

const tag = 'transactions';
const surface = 'devices' as const;
const InRealm = z.strictObject({ realm: RealmName });
const ById = z.strictObject({ realm: RealmName, id: Id });
const at = '/realms/:realm/tx' as const;
const TEXT_MAX = 1000;

const Amount = z.string().regex(/^(0|[1-9]\d{0,14})(\.\d{1,4})?$/, 'must be a decimal as 12.50');
const Currency = z.string().regex(/^[A-Z]{3}$/, 'must be a code as EUR (ISO 4217)');
const linked = {
  amount: z.string().nullable(),
  currency: z.string().nullable(),
  payee: z.string().nullable(),
};

export const Transaction = z
  .object({
    id: Id,
    status: z.enum(['waiting', 'signed', 'denied', 'consumed', 'void', 'expired']),
    text: z.string(),
    ...linked,
    clientId: z.string(),
    createdAt: EpochMs,
    expiresAt: EpochMs.describe('It is signed and consumed by then, or not at all'),
    decidedAt: EpochMs.nullable(),
    consumedAt: EpochMs.nullable(),
  })
  .meta({ id: 'Transaction' });
export type Transaction = z.infer<typeof Transaction>;

/**
 * A text that a user signs: without invisible or text-reversing characters, in one line without wide gaps, and in one normal form, so the
 * user signs what they see.
 */
const shown = (of: z.ZodString) =>
  of.refine(isAllSeen, HIDES).refine(isOneLine, ONE_LINE).refine(isComposed, NOT_COMPOSED);
const given = { amount: Amount.optional(), currency: Currency.optional(), payee: shown(name(200)).optional() };
export const createTransaction = route({
  method: 'POST',
  path: at,
  operationId: 'createTransaction',
  tag,
  surface,
  summary: 'Let the person confirm something on their device',
  description:
    'The person is the one of the access token, and the application is its client: nobody else sees the transaction, or consumes it.',
  principal: 'application',
  permission: null,
  params: InRealm,
  body: z.strictObject({
    text: shown(text(TEXT_MAX).min(1)).describe('What the device shows and signs, letter by letter'),
    ...given,
    expiresInSeconds: z.int().min(30).max(900).optional().describe('Left out: 300'),
  }),
  example: { text: 'Pay 12.50 EUR to Example Ltd', amount: '12.50', currency: 'EUR', payee: 'Example Ltd' },
  status: 201,
  response: Transaction,
  problems: ['too-many-requests'],
});
export const getTransaction = route({
  method: 'GET',
  path: `${at}/:id`,
  operationId: 'getTransaction',
  tag,
  surface,
  summary: 'Where a transaction stands',
  principal: 'application',
  permission: null,
  params: ById,
  response: Transaction,
  problems: ['not-found'],
});
export const consumeTransaction = route({
  method: 'POST',
  path: `${at}/:id/consume`,
  operationId: 'consumeTransaction',
  tag,
  surface,
  summary: 'Use a signed transaction, once',
  description:
    'With what is about to be done. Where amount, currency or payee are not those that were signed, the transaction is void for good.',
  principal: 'application',
  permission: null,
  params: ById,
  body: z.strictObject(given),
  example: { amount: '12.50', currency: 'EUR', payee: 'Example Ltd' },
  response: Transaction.extend({
    signature: z.string().describe('The JWS that the device made'),
    publicKey: DeviceKey.describe('The key that it is checked by'),
  }),
  problems: ['not-found', 'wrong-state'],
});

export const TransactionToSign = z
  .object({
    id: Id,
    challenge: z.string(),
    text: z.string(),
    ...linked,
    username: z.string(),
    application: z.string(),
    createdAt: EpochMs,
    expiresAt: EpochMs,
  })
  .meta({ id: 'TransactionToSign' });
export type TransactionToSign = z.infer<typeof TransactionToSign>;

export const listTransactions = route({
  method: 'GET',
  path: at,
  operationId: 'listTransactions',
  tag,
  surface,
  summary: 'What waits for the person’s signature, newest first',
  principal: 'device',
  permission: null,
  params: InRealm,
  response: z.array(TransactionToSign),
});
export const signTransaction = route({
  method: 'POST',
  path: `${at}/:id/sign`,
  operationId: 'signTransaction',
  tag,
  surface,
  summary: 'Confirm a transaction, or refuse it',
  description:
    'The device signs `challenge`, `decision` (`approve`, `deny`), and all that it showed: `text`, `amount`, `currency`, `payee` (null where there is none).',
  principal: 'device',
  permission: null,
  params: ById,
  status: 204,
  problems: ['not-found', 'wrong-state'],
});
