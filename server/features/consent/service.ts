// Owns: what people have agreed to: asking them, believing the answer, remembering it.
// Does not own: when consent is needed and what follows from it (features/authorize).
// Implements: decisions "Client" (consentRequired); OIDC Core §3.1.2.4.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../contract/events.ts';
import { proofHolds, proofOf } from '../../crypto/form-proof.ts';
import type { Sql } from '../../db/sql.ts';
import type { Tx } from '../../db/transact.ts';
import type { Agreement } from '../../domain/agreement.ts';
import type { Form } from '../../http/form.ts';
import { type Brand, type Html, sendPage } from '../../http/pages.ts';
import { text as words } from '../../http/texts.ts';
import type { AuthorizationRequest } from '../authorize/checks.ts';
import type { ClientView } from '../clients/view.ts';
import { agreementList, consentPage } from './pages.ts';
import * as store from './store.ts';

interface Person {
  id: string;
  userId: string;
  username: string;
}

export function createConsents({
  sql,
  sessionCookie,
  adminAudience,
  now,
}: {
  sql: Sql;
  sessionCookie: (realm: string) => string;
  /** The page has words of its own for it. */
  adminAudience: string;
  now: () => Date;
}) {
  const about = (realm: string, session: Person, text: string, since: string) => [
    'consent',
    realm,
    session.id,
    text,
    since,
  ];

  /** What a request asks the person to agree to, for a page. */
  const listed = ({ scopesToAgree: scopes, toAgree, openid, administers }: AuthorizationRequest): Html =>
    agreementList({
      scopes,
      openid,
      resources: toAgree.resources.filter((resource) => resource !== adminAudience),
      claims: toAgree.claims,
      administers,
    });

  return {
    listed,

    /** What the person has agreed to give the client. */
    of: (realm: string, userId: string, client: ClientView): Promise<Agreement | undefined> =>
      store.read(sql, realm, userId, client.id),

    ask(
      reply: FastifyReply,
      request: FastifyRequest,
      {
        realm,
        brand,
        session,
        asked,
        since,
      }: { realm: string; brand: Brand; session: Person; asked: AuthorizationRequest; since: number },
    ): FastifyReply {
      const { client, text, redirectUri } = asked;
      const body = consentPage({
        realm,
        application: client.title,
        origin: client.documentHost === null ? undefined : { host: client.documentHost, redirectUri },
        username: session.username,
        agreement: listed(asked),
        request: text,
        since,
        proof: proofOf(request.cookies[sessionCookie(realm)] ?? '', about(realm, session, text, String(since)), now()),
      });
      return sendPage(
        reply,
        { realm, brand, title: words('consent.title'), body, plain: true },
        { formAction: [redirectUri] },
      );
    },

    /** The authorization request that the person answered, where the answer really comes from their page. */
    answered(
      request: FastifyRequest,
      form: Form,
      realm: string,
      session: Person,
    ): { text: string; since: number; allowed: boolean } | undefined {
      const [text, since] = [form.get('request') ?? '', form.get('since') ?? ''];
      const asked = about(realm, session, text, since);
      if (!proofHolds(form.get('proof'), request.cookies[sessionCookie(realm)], asked, now())) return undefined;
      return { text, since: Number(since), allowed: form.get('decision') === 'allow' };
    },

    /** Remembers an agreement, in the transaction that acts on it. */
    async grant(
      tx: Tx,
      by: By,
      realm: string,
      { userId, client, agreed }: { userId: string; client: ClientView; agreed: Agreement },
    ): Promise<void> {
      await store.add(tx.sql, realm, { userId, client: client.id, agreed, now: now() });
      tx.record({
        type: 'CONSENT_GRANTED',
        realm,
        by,
        clientId: client.clientId,
        subject: { type: 'user', id: userId, name: null },
        data: { ...agreed },
      });
    },
  };
}
export type Consents = ReturnType<typeof createConsents>;
