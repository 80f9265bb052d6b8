// Owns: the SAML 2.0 identity provider: its metadata, and sign-ons that a service provider or this server begins.
// Does not own: SAML clients (features/configuration/saml-clients), signing in (features/authentication/sign-in), reading and writing XML (server/xml).
// Implements: specification 1, 4.3, 4.11; SAML 2.0 Profiles §4.1; decisions "SAML".
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By, DomainEvent } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { type Agreement, agreementCovers } from '../../../domain/agreement.ts';
import { type Factors, oldestOf, provenSince } from '../../../domain/factors.ts';
import type { Person } from '../../../domain/person.ts';
import { newXmlId } from '../../../domain/saml-writing.ts';
import { actorOf, personOf } from '../../../domain/session.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import type { Refusals } from '../../../events/refusals.ts';
import type { Form } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import { sendForm } from '../../../http/self-posting.ts';
import type { XmlSigner } from '../../../xml/sign.ts';
import type { Continuation } from '../../authentication/sign-in/continuation.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { Keys } from '../../configuration/keys/service.ts';
import type { Consents } from '../../people/consent/service.ts';
import type { LiveSession } from '../../people/sessions/service.ts';
import { attributesOf } from './attributes.ts';
import { agreementOf } from './consent.ts';
import { classOf } from './contexts.ts';
import { samlDecision } from './decide.ts';
import { KEPT_MS, type Keeping, KeptLogin } from './kept.ts';
import { metadataOf } from './metadata.ts';
import { type NameId, nameIdOf } from './name-id.ts';
import { consentPath, keptPath, resumePath } from './paths.ts';
import { createSamlRequests, type Refused } from './requests.ts';
import { type Addressed, assertionResponse, failedResponse } from './response.ts';
import { addConsent, readConsent, readPerson, signOn } from './store.ts';
import type { SamlClientView, SamlClientViews } from './view.ts';
import { type Failed, failures } from './vocabulary.ts';

export interface SamlDeps {
  sql: Sql;
  transact: Transact;
  keeping: Keeping;
  clients: Pick<SamlClientViews, 'view'>;
  keys: Pick<Keys, 'certificates'>;
  signerOf(realm: string): Promise<XmlSigner>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined>; issuer(realm: string): Promise<string> };
  sessions: { current(request: FastifyRequest, realm: string): Promise<LiveSession | undefined> };
  signIns: Pick<SignIns, 'begin' | 'missing'>;
  consents: Pick<Consents, 'ask' | 'answered' | 'listed'>;
  factors: Factors;
  subjects: Pick<Subjects, 'of'>;
  refusals: Pick<Refusals, 'record'>;
  baseUrl: string;
  now: () => Date;
}

interface Context {
  request: FastifyRequest;
  reply: FastifyReply;
  realm: string;
  brand: RealmSettingsDto;
  client: SamlClientView;
  kept: KeptLogin;
}
/** A session that satisfies the request. Its proofs that count are not older than `since`, in milliseconds. */
interface SignedIn {
  sessionId: string;
  since: number;
}
/** The user and session of a response, and the user's name for the service provider. */
interface Answered {
  session: LiveSession;
  person: Person;
  nameId: NameId;
  /** The time from which the session's proofs count, in milliseconds. */
  since: number;
  /** The agreement that the user has just given. */
  agreed: Agreement | undefined;
}

export function createSamlIdentityProvider(deps: SamlDeps) {
  const {
    sql,
    transact,
    keeping,
    signerOf,
    clients,
    keys,
    settings,
    sessions,
    signIns,
    consents,
    factors,
    subjects,
    refusals,
    baseUrl,
    now,
  } = deps;
  const requests = createSamlRequests(deps);

  const documents = createRealmCache<string>({
    now,
    ttlMs: 2_000,
    async load(realm) {
      const { samlSignOn: signOnAt, samlLogout: logout } = endpointsOf(baseUrl, realm);
      const certificates = (await keys.certificates(realm)).map(({ certificate }) => certificate);
      const signer = await signerOf(realm);
      const issuer = await settings.issuer(realm);
      return metadataOf({ issuer, signOn: signOnAt, logout, certificates, signer, now: now() });
    },
  });

  async function brandOf(realm: string): Promise<RealmSettingsDto> {
    const brand = await settings.of(realm);
    if (!brand) throw new OAuthError('not_found', 'There is no such realm');
    return brand;
  }

  async function contextFor(
    request: FastifyRequest,
    reply: FastifyReply,
    realm: string,
    kept: KeptLogin,
  ): Promise<Context> {
    const client = await clients.view(realm, kept.entityId);
    // The client changed after the request was verified.
    if (!client?.consumers.some(({ url }) => url === kept.consumer))
      throw new OAuthError('invalid_request', 'The application is not known here');
    return { request, reply, realm, brand: await brandOf(realm), client, kept };
  }

  const addressed = async ({ realm, client, kept }: Context): Promise<Addressed> => ({
    issuer: await settings.issuer(realm),
    client,
    consumer: kept.consumer,
    requestId: kept.requestId,
    now: now(),
  });

  function send({ realm, brand, reply, kept }: Context, response: string): FastifyReply {
    const fields = { SAMLResponse: Buffer.from(response).toString('base64'), RelayState: kept.relayState };
    // The assertion consumer service redirects the browser to the user's destination, and Chromium applies the form's
    // policy to redirects.
    return sendForm(reply, { realm, brand }, { action: kept.consumer, fields, onward: ['https:'] });
  }
  const fail = async (context: Context, because: Failed): Promise<FastifyReply> =>
    send(context, await failedResponse(await addressed(context), because, await signerOf(context.realm)));

  const signInFor = ({ realm, client, kept }: Context, { forced }: { forced: boolean }) => ({
    realm,
    clientId: client.entityId,
    clientName: client.title,
    flow: client.flowOverride ?? undefined,
    requiredLevel: kept.level,
    forced,
    // a subject may have any format, but users type names or addresses
    loginHint: kept.format === 'emailAddress' || kept.format === 'unspecified' ? kept.subject : undefined,
    request: kept,
    continueAt: resumePath(realm),
  });

  const event = (
    { request, realm, client }: Context,
    session: LiveSession,
    what: Pick<DomainEvent, 'type' | 'outcome' | 'data'>,
  ): DomainEvent => {
    const by: By = { actor: actorOf(session), ipAddress: request.ip };
    return { realm, by, subject: personOf(session), clientId: client.entityId, ...what };
  };

  /** @returns why the user may not use an application that the client is a part of */
  async function closedTo(context: Context, session: LiveSession, person: Person): Promise<Failed | undefined> {
    const closed = context.client.applications.find(
      ({ roles }) => roles.length > 0 && !roles.some((role) => person.roles.realm.includes(role)),
    );
    if (!closed) return undefined;
    const denied = { type: 'ACCESS_DENIED', outcome: 'denied', data: { application: closed.name } } as const;
    await transact(context.realm, async ({ record }) => record(event(context, session, denied)));
    return failures.denied;
  }

  async function answer(context: Context, { session, person, nameId, since, agreed }: Answered) {
    const { realm, client, kept } = context;
    const counted = provenSince(session.factors, since);
    const oldest = session.impersonator ? session.startedAt.getTime() : oldestOf(counted);
    if (oldest === undefined) return fail(context, failures.noPassive);
    const on = {
      client: client.id,
      sessionId: session.id,
      requestId: kept.requestId,
      // after this time the sealed request has expired in any case
      expiresAt: new Date(now().getTime() + 2 * KEPT_MS),
      sessionIndex: newXmlId(),
      nameId,
    };
    const noted = await transact(realm, async (tx) => {
      const result = await signOn(tx.sql, realm, on);
      if (result === 'session ended') throw new OAuthError('login_required', 'The session has ended meanwhile');
      if (result === 'answered before') throw new OAuthError('invalid_request', 'The request was answered before');
      const data = {
        sessionId: session.id,
        nameIdFormat: nameId.format,
        initiatedBy: kept.requestId === null ? 'identity-provider' : 'service-provider',
      };
      if (agreed) {
        await addConsent(tx.sql, realm, { userId: person.id, client: client.id, claims: agreed.claims, now: now() });
        tx.record(event(context, session, { type: 'CONSENT_GRANTED', data: { ...agreed } }));
      }
      tx.record(event(context, session, { type: 'SAML_ASSERTION_ISSUED', data }));
      return result;
    });
    const [level, amr] = [factors.levelOf(counted), factors.amrOf(counted)];
    const facts = { sid: noted.sessionIndex, authTime: Math.floor(oldest / 1000), acr: String(level), amr };
    const said = {
      ...noted,
      attributes: attributesOf(client.mappers, person, facts),
      sessionUntil: session.expiresAt,
      signedInAt: new Date(oldest),
      context: classOf(level, amr, kept.tell),
    };
    return send(context, await assertionResponse(await addressed(context), said, await signerOf(realm)));
  }

  /** @returns the attributes that the user has not consented to yet; undefined: none */
  async function openAgreement({ realm, client, kept }: Context, userId: string): Promise<Agreement | undefined> {
    if (!client.consentRequired) return undefined;
    const asked = agreementOf(client, kept.format);
    return agreementCovers(await readConsent(sql, realm, userId, client.id), asked) ? undefined : asked;
  }

  function ask(context: Context, session: LiveSession, toAgree: Agreement, since: number): FastifyReply {
    const { realm, request, reply, brand, client, kept } = context;
    const agreement = consents.listed({ scopesToAgree: [], toAgree, openid: true, administers: false, details: [] });
    const text = keeping.write({ ...kept, toAgree: [...toAgree.claims] });
    const answerAt = consentPath(realm);
    return consents.ask(reply, request, {
      again: null,
      realm,
      brand,
      session,
      answerAt,
      application: client.title,
      agreement,
      text,
      since,
    });
  }

  /** @param agreed what the user has consented to for this request */
  async function proceed(context: Context, signedIn?: SignedIn, agreed?: Agreement): Promise<FastifyReply> {
    const { realm, request, reply, client, kept } = context;
    if (client.applications.some(({ enabled }) => !enabled)) return fail(context, failures.applicationOff);
    const session = await sessions.current(request, realm);
    const fresh = session !== undefined && signedIn?.sessionId === session.id;
    const person = session && (await readPerson(sql, realm, session.userId));
    const nameId = person && (await nameIdOf(subjects, realm, client, kept.format, person));
    const open = person && (await openAgreement(context, person.id));
    const toAgree = open !== undefined && !agreementCovers(agreed, open);
    const step = samlDecision(kept, {
      session,
      missing:
        session && !fresh && !session.impersonator
          ? await signIns.missing(request, { ...signInFor(context, { forced: false }), session })
          : undefined,
      fresh,
      somebodyElse: person !== undefined && kept.subject !== undefined && kept.subject !== nameId?.value,
      toAgree,
    });
    if (step.do === 'refuse') return fail(context, step.because);
    if (step.do === 'sign-in' || !session || !person)
      return signIns.begin(reply, request, {
        ...signInFor(context, { forced: step.do === 'sign-in' && step.forced }),
        session,
      });
    const closed = await closedTo(context, session, person);
    if (closed) return fail(context, closed);
    if (!nameId) return fail(context, failures.noNameId);
    const since = fresh ? (signedIn?.since ?? 0) : 0;
    if (step.do === 'consent' && open) return ask(context, session, open, since);
    return answer(context, { session, person, nameId, since, agreed: open });
  }

  /** An error that only a page shows is recorded as an event, so that administrators can find it. */
  function told(request: FastifyRequest, realm: string, { error, entityId, reason }: Refused): OAuthError {
    refusals.record({
      type: 'AUTHORIZATION_REFUSED',
      realm,
      by: { actor: null, ipAddress: request.ip },
      clientId: entityId ?? null,
      outcome: 'failure',
      data: { protocol: 'saml', error: error.error, reason },
    });
    error.clientId = entityId;
    return error;
  }

  /** Reads an arrived message, in the form that is stored from here on. @throws OAuthError that is shown on a page */
  async function arrived(request: FastifyRequest, realm: string, read: () => ReturnType<typeof requests.arrived>) {
    const result = await read();
    if ('error' in result) throw told(request, realm, result);
    return result;
  }

  const proceedOrFail = (context: Context, failed: Failed | undefined) =>
    failed ? fail(context, failed) : proceed(context);

  const again = (kept: unknown, realm: string) =>
    keptPath(realm, typeof kept === 'string' ? kept : keeping.write(KeptLogin.parse(kept)));
  const continuation: Continuation = {
    name: 'saml',
    continueAt: resumePath,
    again,
    async cancel(reply, request, realm, kept) {
      try {
        return await fail(await contextFor(request, reply, realm, KeptLogin.parse(kept)), failures.cancelled);
      } catch (thrown) {
        if (!(thrown instanceof OAuthError)) throw thrown;
        // The application has changed meanwhile. Its request begins anew, and its page says what is wrong.
        return reply.redirect(again(kept, realm), 303);
      }
    },
    asked: { write: (kept) => keeping.write(KeptLogin.parse(kept)), read: (text) => encodeURIComponent(text) },
    // The response is a page, which would send the password again when it is reloaded.
    prepare: async () => undefined,
  };

  return {
    continuation,
    metadata: (realm: string): Promise<string> => documents.get(realm, ''),

    /** Handles a request by the Redirect binding, or one that continues from another binding. */
    async begin(request: FastifyRequest, reply: FastifyReply, realm: string, query: string): Promise<FastifyReply> {
      const sealed = new URLSearchParams(query).get('request');
      if (sealed !== null) {
        const kept = keeping.read(realm, sealed);
        if (!kept) throw new OAuthError('invalid_request', 'The request is too old');
        return proceed(await contextFor(request, reply, realm, kept));
      }
      const { kept, failed } = await arrived(request, realm, () => requests.arrived(realm, 'Redirect', query));
      return proceedOrFail(await contextFor(request, reply, realm, kept), failed);
    },

    /** Redirects a POST request to GET: browsers don't send the session's cookie (SameSite=Lax) with other sites' posts. */
    async beginByPost(
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      body: string,
    ): Promise<FastifyReply> {
      const { kept, failed } = await arrived(request, realm, () => requests.arrived(realm, 'POST', body));
      if (failed) return fail(await contextFor(request, reply, realm, kept), failed);
      return reply.redirect(keptPath(realm, keeping.write(kept)), 303);
    },

    /** Starts a sign-on without a request of the service provider. */
    async initiate(
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      asked: { entityId: string; relayState: string | undefined },
    ): Promise<FastifyReply> {
      const { kept } = await arrived(request, realm, () => requests.initiated(realm, asked));
      return proceed(await contextFor(request, reply, realm, kept));
    },

    /** Continues after a sign-in: handles the same sign-on again, now with a session. */
    resume: async (
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      { kept, signedIn }: { kept: KeptLogin; signedIn: SignedIn },
    ): Promise<FastifyReply> => proceed(await contextFor(request, reply, realm, kept), signedIn),

    /** Handles the consent page's form. Only a sufficient session is shown that page, so it isn't judged again. */
    async consent(request: FastifyRequest, reply: FastifyReply, realm: string, form: Form): Promise<FastifyReply> {
      const session = await sessions.current(request, realm);
      const { text, signedIn, allowed } = consents.answered(request, form, {
        realm,
        session,
        answerAt: consentPath(realm),
      });
      const kept = keeping.read(realm, text);
      if (!kept) throw new OAuthError('invalid_request', 'The request is too old');
      const context = await contextFor(request, reply, realm, kept);
      if (!allowed) return fail(context, failures.notAgreed);
      return proceed(context, signedIn, { scopes: [], resources: [], claims: kept.toAgree ?? [] });
    },

    drop: documents.drop,
  };
}
export type Saml = ReturnType<typeof createSamlIdentityProvider>;
