// Binds the routes of contract/devices.ts.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/devices.ts';
import { Problem } from '../../../contract/problem.ts';
import * as tx from '../../../contract/transactions.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { PushTokens } from '../../configuration/messaging/push-tokens.ts';
import type { KnownUser } from '../credentials/service.ts';
import type { MustCover } from '../users/service.ts';
import type { Challenges } from './challenges.ts';
import type { Enrolments } from './enrolment.ts';
import { applicationOf, deviceOf, enrolmentOf } from './surface.ts';
import type { Transactions } from './transactions.ts';

export function deviceRoutes(
  app: FastifyInstance,
  {
    transact,
    enrolments,
    challenges,
    pushTokens,
    transactions,
  }: {
    transact: Transact;
    enrolments: Enrolments;
    challenges: Challenges;
    pushTokens: Pick<PushTokens, 'replace'>;
    transactions: Transactions;
  },
): void {
  bind(app, api.startEnrolment, ({ params, request }) => enrolments.start(params.realm, enrolmentOf(request)));
  bind(app, api.enrolDevice, ({ params, by, body, request }) =>
    enrolments.enrol(by, params.realm, enrolmentOf(request), body),
  );
  bind(app, api.putDevicePush, async ({ params: { realm }, by, body, request }) => {
    const { id, userId, label } = deviceOf(request);
    const reached = { userId, deviceName: label, credentialId: id, ...body };
    await transact(realm, (tx) => pushTokens.replace(tx, by, realm, reached));
    return undefined;
  });
  bind(app, api.listPushes, ({ params, request }) => challenges.list(params.realm, deviceOf(request)));
  bind(app, api.getPush, ({ params, request }) => challenges.get(params.realm, deviceOf(request), params.id));
  bind(app, api.approvePush, async ({ params, by, request }) => {
    await challenges.approve(params.realm, by, deviceOf(request), params.id);
    return undefined;
  });
  bind(app, api.denyPush, async ({ params, by, request }) => {
    await challenges.deny(params.realm, by, deviceOf(request), params.id);
    return undefined;
  });
  transactionRoutes(app, transactions);
  bind(app, api.getQr, ({ params, query, request }) =>
    challenges.qr(params.realm, deviceOf(request), params.id, query.code),
  );
  bind(app, api.confirmQr, async ({ params, query, by, request }) => {
    await challenges.confirm(params.realm, by, deviceOf(request), params.id, query.code);
    return undefined;
  });
}

/** The routes of applications, which create transactions, and of devices, which sign them. */
function transactionRoutes(app: FastifyInstance, transactions: Transactions): void {
  bind(app, tx.createTransaction, ({ params, by, body, request }) =>
    transactions.create(by, params.realm, applicationOf(request), body),
  );
  bind(app, tx.getTransaction, ({ params, request }) =>
    transactions.get(params.realm, applicationOf(request), params.id),
  );
  bind(app, tx.consumeTransaction, ({ params, by, body, request }) =>
    transactions.consume(by, params.realm, applicationOf(request), params.id, body),
  );
  bind(app, tx.listTransactions, ({ params, request }) => transactions.list(params.realm, deviceOf(request)));
  bind(app, tx.signTransaction, async ({ params, by, request }) => {
    await transactions.sign(by, params.realm, deviceOf(request), params.id);
    return undefined;
  });
}

/** The routes by which an administrator starts an enrolment. The routes of credentials list and remove devices. */
export function enrolmentTokenRoutes(
  admin: FastifyInstance,
  { transact, enrolments, mustCover }: { transact: Transact; enrolments: Enrolments; mustCover: MustCover },
): void {
  const find = async (sql: Sql, realm: string, id: string): Promise<KnownUser> => {
    const [user] = await sql<KnownUser>`select id, username from realm_user where realm_id = ${realm} and id = ${id}`;
    if (!user) throw new Problem('not-found', 'There is no such user');
    return user;
  };
  bind(admin, api.createEnrolmentToken, ({ params: { realm, userId }, by, request }) =>
    transact(realm, async (tx) => {
      const user = await find(tx.sql, realm, userId);
      await mustCover(principalOf(request), realm, userId, tx.sql);
      const { token, expiresAt } = await enrolments.offer(tx, by, realm, user);
      return { token, url: enrolments.urlOf(realm, token), expiresAt: expiresAt.getTime() };
    }),
  );
}
