// Owns: consent: asking the user, verifying the answer, storing it.
// Does not own: when consent is needed, and its consequences (features/protocol/authorize, features/protocol/saml).
// Implements: decisions "Client" (consentRequired); OIDC Core §3.1.2.4.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { proofHolds, proofOf } from '../../../crypto/form-proof.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Agreement } from '../../../domain/agreement.ts';
import type { AskedDetail } from '../../../domain/authorization-details.ts';
import type { ScopeView } from '../../../domain/claims.ts';
import { userParty } from '../../../domain/party.ts';
import { type AboutClient, picturesOf } from '../../../http/about-client.ts';
import type { Form } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import { type Brand, type Html, sendPage } from '../../../http/pages.ts';
import { text as words } from '../../../http/texts.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { sessionCookieAt } from '../sessions/service.ts';
import { agreementLines, agreementList, consentPage } from './pages.ts';
import * as store from './store.ts';

interface Person {
  id: string;
  userId: string;
  username: string;
}

/** The part of an application's request that the user has to agree to. */
interface ConsentRequest {
  scopesToAgree: readonly ScopeView[];
  toAgree: Agreement;
  openid: boolean;
  /** The token will carry the user's own admin permissions. */
  administers: boolean;
  details: readonly AskedDetail[];
}
/** One question to the user: everything that the consent page shows. */
export interface Question {
  realm: string;
  brand: Brand;
  session: Person;
  /** The path that the page's form posts to. */
  answerAt: string;
  application: string;
  /** The client's own description: links and logo. */
  client?: AboutClient | undefined;
  origin?: { host: string; redirectUri: string } | undefined;
  agreement: Html;
  /** The application's request as text. The form sends it back with the answer. */
  text: string;
  /** Only factors that the session proved at or after this time count for the request. */
  since: number;
  /** The address that asks the same question in another language; null: there is none. */
  again: string | null;
  /** The origins to which the answer may redirect the browser. */
  onward?: readonly string[];
}

export function createConsents({ sql, baseUrl, now }: { sql: Sql; baseUrl: string; now: () => Date }) {
  const sessionCookie = sessionCookieAt(baseUrl).nameIn;
  const administrators = adminAudience(baseUrl);

  const about = (answerAt: string, session: Person, text: string, since: string) => [
    'consent',
    answerAt,
    session.id,
    text,
    since,
  ];

  const agreementOf = ({ scopesToAgree: scopes, toAgree, openid, administers, details }: ConsentRequest) => ({
    scopes,
    openid,
    resources: toAgree.resources.filter((resource) => resource !== administrators),
    claims: toAgree.claims,
    administers,
    details,
  });

  return {
    /** The scopes, resources and claims that the request asks for, as HTML. */
    listed: (asked: ConsentRequest): Html => agreementList(agreementOf(asked)),
    /** The same as lines of text. */
    lines: (asked: ConsentRequest): string[] => agreementLines(agreementOf(asked)),

    /** The user's consent for the client; undefined: there is none. */
    of: (realm: string, userId: string, client: ClientView): Promise<Agreement | undefined> =>
      store.read(sql, realm, userId, client.id),

    ask(reply: FastifyReply, request: FastifyRequest, question: Question): FastifyReply {
      const {
        realm,
        brand,
        session,
        answerAt,
        application,
        client,
        origin,
        agreement,
        text,
        since,
        again: back,
        onward = [],
      } = question;
      const asked = about(answerAt, session, text, String(since));
      const body = consentPage({
        answerAt,
        application,
        about: client,
        origin,
        username: session.username,
        agreement,
        request: text,
        since,
        proof: proofOf(request.cookies[sessionCookie(realm)] ?? '', asked, now()),
      });
      return sendPage(
        reply,
        { realm, brand, title: words('consent.title'), body, plain: true, back },
        { formAction: onward, images: picturesOf(client) },
      );
    },

    /**
     * The request that the user answered, and from when on proven factors count for it.
     * @throws OAuthError `invalid_request`: the answer doesn't come from the page that this session was shown
     */
    answered(
      request: FastifyRequest,
      form: Form,
      { realm, session, answerAt }: { realm: string; session: Person | undefined; answerAt: string },
    ): { text: string; signedIn: { sessionId: string; since: number }; allowed: boolean } {
      const [text, since] = [form.get('request') ?? '', form.get('since') ?? ''];
      const cookie = request.cookies[sessionCookie(realm)];
      if (!session || !proofHolds(form.get('proof'), cookie, about(answerAt, session, text, since), now()))
        throw new OAuthError('invalid_request', 'The page is too old', {
          page: { told: words('said.nothingAllowed') },
        });
      const signedIn = { sessionId: session.id, since: Number(since) };
      return { text, signedIn, allowed: form.get('decision') === 'allow' };
    },

    /** Remembers the consent, in the transaction that acts on it. */
    async grant(
      tx: Tx,
      by: By,
      realm: string,
      { userId, client, agreed }: { userId: string; client: ClientView; agreed: Agreement },
    ): Promise<void> {
      const username = await store.add(tx.sql, realm, { userId, client: client.id, agreed, now: now() });
      tx.record({
        type: 'CONSENT_GRANTED',
        realm,
        by,
        clientId: client.clientId,
        subject: userParty(userId, username),
        data: { ...agreed },
      });
    },
  };
}
export type Consents = ReturnType<typeof createConsents>;
