// Owns: transactions that an application asks a user to sign on a device: bound to the user, the application and the text shown, used once.
// Does not own: the application's use of a signed transaction; authenticating callers (surface.ts).
// Implements: specification 4.11; PSD2's dynamic linking.
import type { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type {
  consumeTransaction,
  createTransaction,
  Transaction,
  TransactionToSign,
} from '../../../contract/transactions.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { AuthorizationDetail } from '../../../domain/authorization-details.ts';
import { userParty } from '../../../domain/party.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { DeviceKeys } from '../credentials/devices.ts';
import type { SigningApplication, SigningDevice } from './surface.ts';
import * as store from './transaction-store.ts';

const LIFETIME_SECONDS = 300;
const MOST_WAITING = 5;
const LINKED = ['amount', 'currency', 'payee'] as const;
const FIELDS = ['text', ...LINKED] as const;

export interface TransactionDeps {
  sql: Sql;
  transact: Transact;
  send: Send;
  deviceKeys: Pick<DeviceKeys, 'used'>;
  now: () => Date;
  newId: () => string;
}

const notThere = () => new Problem('not-found', 'There is no such transaction');
const refused = (path: string) =>
  new Problem('invalid-request', undefined, { errors: [{ path, message: 'differs from the transaction' }] });
const same = (a: string | null, b: unknown): boolean => (a === null ? b === null || b === undefined : a === b);

export function createTransactions({ sql, transact, send, deviceKeys, now, newId }: TransactionDeps) {
  function toWire(row: store.TransactionRow): Transaction {
    const open = row.status === 'waiting' || row.status === 'signed';
    return {
      id: row.id,
      status: open && row.expires_at <= now() ? 'expired' : row.status,
      text: row.text,
      amount: row.amount,
      currency: row.currency,
      payee: row.payee,
      clientId: row.client_id,
      createdAt: row.created_at.getTime(),
      expiresAt: row.expires_at.getTime(),
      decidedAt: row.decided_at?.getTime() ?? null,
      consumedAt: row.consumed_at?.getTime() ?? null,
    };
  }
  type Event =
    | 'TRANSACTION_CREATED'
    | 'TRANSACTION_SIGNED'
    | 'TRANSACTION_DENIED'
    | 'TRANSACTION_CONSUMED'
    | 'TRANSACTION_VOID';
  const tell = (tx: Tx, type: Event, realm: string, by: By, row: store.TransactionRow, data: object = {}) =>
    tx.record({
      type,
      realm,
      by,
      subject: userParty(row.user_id, row.username),
      clientId: row.client_id,
      ...((type === 'TRANSACTION_DENIED' || type === 'TRANSACTION_VOID') && { outcome: 'denied' as const }),
      data: { transaction: row.id, ...data },
    });
  const own = (
    row: store.TransactionRow | undefined,
    { userId, clientId }: SigningApplication,
  ): store.TransactionRow => {
    if (row?.user_id !== userId || row.client_id !== clientId) throw notThere();
    return row;
  };

  return {
    create: (
      by: By,
      realm: string,
      application: SigningApplication,
      { expiresInSeconds = LIFETIME_SECONDS, ...said }: z.output<(typeof createTransaction)['body']>,
    ): Promise<Transaction> =>
      transact(realm, async (tx) => {
        if ((said.amount === undefined) !== (said.currency === undefined))
          throw new Problem('invalid-request', undefined, {
            errors: [
              {
                path: said.amount === undefined ? 'amount' : 'currency',
                message: 'is missing: amount and currency belong together',
              },
            ],
          });
        const { userId, clientId, transactions } = application;
        // What the user agreed to in words; a field that the detail leaves out was not limited.
        const isAgreed = (detail: AuthorizationDetail) =>
          FIELDS.every((field) => detail[field] === undefined || detail[field] === said[field]);
        if (transactions.length > 0 && !transactions.some(isAgreed))
          throw new Problem('insufficient-scope', 'The access token is for other transactions (authorization_details)');
        if ((await store.waitingFor(tx.sql, realm, userId, now())) >= MOST_WAITING)
          throw new Problem('too-many-requests', 'Too many transactions wait for this user already', {
            retryAfterSeconds: 60,
          });
        const id = newId();
        const expiresAt = new Date(now().getTime() + expiresInSeconds * 1000);
        const row = { id, userId, clientId, ...said, challenge: newSecret(), at: now(), expiresAt };
        await store.insert(tx.sql, realm, row);
        const made = own(await store.find(tx.sql, realm, id), application);
        const values = { client: made.application };
        const message = { realm, by, userId, templateKey: 'push-transaction', values } as const;
        await send(tx, { ...message, goodForSeconds: expiresInSeconds, data: { transaction: id, realm } });
        tell(tx, 'TRANSACTION_CREATED', realm, by, made);
        return toWire(made);
      }),

    get: async (realm: string, application: SigningApplication, id: string): Promise<Transaction> =>
      toWire(own(await store.find(sql, realm, id), application)),

    list: async (realm: string, device: SigningDevice): Promise<TransactionToSign[]> =>
      (await store.toSign(sql, realm, device.userId, now())).map((row) => ({
        id: row.id,
        challenge: row.challenge,
        text: row.text,
        amount: row.amount,
        currency: row.currency,
        payee: row.payee,
        username: row.username,
        application: row.application,
        createdAt: row.created_at.getTime(),
        expiresAt: row.expires_at.getTime(),
      })),

    sign: (by: By, realm: string, device: SigningDevice, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const row = await store.find(tx.sql, realm, id, { lock: true });
        if (row?.user_id !== device.userId) throw notThere();
        if (row.status !== 'waiting' || row.expires_at <= now())
          throw new Problem('wrong-state', 'The transaction was answered already or has expired');
        const { claims, jws, publicKey } = device;
        if (!sameSecret(row.challenge, String(claims.challenge ?? ''))) throw refused('challenge');
        const { decision } = claims;
        if (decision !== 'approve' && decision !== 'deny') throw refused('decision');
        const other = decision === 'approve' && FIELDS.find((field) => !same(row[field], claims[field]));
        if (other) throw refused(other);
        const status = decision === 'approve' ? 'signed' : 'denied';
        await store.answerTransaction(tx.sql, realm, id, { status, signature: jws, publicKey, at: now() });
        deviceKeys.used(tx, realm, device.id);
        const type = decision === 'approve' ? 'TRANSACTION_SIGNED' : 'TRANSACTION_DENIED';
        tell(tx, type, realm, by, row, { device: device.id });
      }),

    async consume(
      by: By,
      realm: string,
      application: SigningApplication,
      id: string,
      about: z.output<(typeof consumeTransaction)['body']>,
    ): Promise<z.input<(typeof consumeTransaction)['response']>> {
      const done = await transact(realm, async (tx) => {
        const row = own(await store.find(tx.sql, realm, id, { lock: true }), application);
        const { signature, device_key: publicKey } = row;
        if (row.status !== 'signed' || row.expires_at <= now() || signature === null || publicKey === null)
          throw new Problem(
            'wrong-state',
            `The transaction is ${toWire(row).status}: only a signed transaction can be consumed`,
          );
        const lost = !(await store.signerIsThere(tx.sql, realm, id));
        const other = lost ? 'device' : LINKED.find((field) => !same(row[field], about[field]));
        await store.endTransaction(tx.sql, realm, id, other ? 'void' : 'consumed', now());
        tell(tx, other ? 'TRANSACTION_VOID' : 'TRANSACTION_CONSUMED', realm, by, row, other ? { reason: other } : {});
        if (other) return { other };
        return { used: { ...toWire({ ...row, status: 'consumed', consumed_at: now() }), signature, publicKey } };
      });
      if (done.used) return done.used;
      if (done.other === 'device')
        throw new Problem('wrong-state', 'The transaction is void: the device that signed it was removed');
      throw refused(done.other);
    },
  };
}
export type Transactions = ReturnType<typeof createTransactions>;
