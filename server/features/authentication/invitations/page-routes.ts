// The addresses that an invitation's link opens, below /login/invitation. GET changes nothing, because mail scanners open
// links, too.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { isFromElsewhere, siteOf } from '../../../domain/site.ts';
import type { FieldFault } from '../../../http/field-errors.ts';
import { valuesIn, withValues } from '../../../http/profile-fields.ts';
import { termsFault, termsOf } from '../../../http/terms.ts';
import { text } from '../../../http/texts.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { enrolmentPage, LABEL_MAX } from '../authenticators/webauthn.ts';
import type { SignIns } from '../sign-in/service.ts';
import { type InvitationPage, sendAnother, sendChoice, sendDone, sendJoin, sendOver, sendPasskey } from './pages.ts';
import type { Invitations } from './service.ts';

/** The longest field is a passkey's answer. */
const FIELD_MAX = 12_000;
const Params = z.object({ realm: z.string() });
const token = z
  .string()
  .max(200)
  .refine((value) => !value.includes('\0'))
  .catch('');
const Query = z.object({ token });
const Form = z.record(z.string(), z.string().max(FIELD_MAX)).catch({});

export interface InvitationPagesDeps {
  invitations: Invitations;
  sessions: Pick<Sessions, 'current'>;
  signIns: Pick<SignIns, 'begin' | 'takesPasskeyAlone'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  /** Limits the tries of one client address. */
  attempts: Pick<RateLimit, 'take'>;
  baseUrl: string;
}

export function invitationPages(app: FastifyInstance, deps: InvitationPagesDeps): void {
  const { invitations, sessions, signIns, settings, attempts, baseUrl } = deps;
  const at = '/realms/:realm/login/invitation';

  async function visit(request: FastifyRequest, sent: string) {
    const { realm } = Params.parse(request.params);
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', phrase('noRealm'));
    const invited = sent === '' ? undefined : await invitations.look(realm, sent);
    return { place: { realm, settings: policy, token: sent }, invited };
  }
  async function posted(request: FastifyRequest) {
    const form = Form.parse(request.body ?? {});
    const here = await visit(request, token.parse(form.token));
    const { realm, settings: policy } = here.place;
    if (isFromElsewhere(request, siteOf(request, policy, baseUrl)))
      throw new Problem('csrf-mismatch', text('recover.elsewhere'));
    const retryAfterSeconds = attempts.take(inRealm(realm, request.ip));
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', text('register.tooMany'), { retryAfterSeconds });
    return { ...here, form };
  }

  const takesPasskey = (request: FastifyRequest, { realm, settings: policy }: InvitationPage): Promise<boolean> =>
    signIns.takesPasskeyAlone({ request, realm, policy });

  app.get(at, { schema: { hide: true } }, async (request, reply) => {
    const { place, invited } = await visit(request, Query.parse(request.query).token);
    if (!invited) return sendOver(reply, place);
    const session = await sessions.current(request, place.realm);
    if (session && !session.impersonator)
      return (await invitations.isFor(place.realm, invited, session.userId))
        ? sendJoin(reply, place, invited, session.username)
        : sendAnother(reply, place, invited, session.username);
    const inputs = await invitations.inputs(place.realm);
    return sendChoice(reply, place, invited, { inputs, takesPasskey: await takesPasskey(request, place) });
  });

  app.post(`${at}/sign-in`, { schema: { hide: true } }, async (request, reply) => {
    const { place, invited } = await posted(request);
    if (!invited) return sendOver(reply, place);
    const { realm } = place;
    const continueAt = `/realms/${realm}/login/invitation?${new URLSearchParams({ token: place.token })}`;
    return signIns.begin(reply, request, { realm, requiredLevel: 1, forced: false, request: null, continueAt });
  });

  app.post(`${at}/accept`, { schema: { hide: true } }, async (request, reply) => {
    const { place, invited } = await posted(request);
    const session = await sessions.current(request, place.realm);
    if (!invited || !session || session.impersonator) return sendOver(reply, place);
    const user = { id: session.userId, username: session.username };
    if (!(await invitations.accept(place.realm, place.token, user, request.ip))) return sendOver(reply, place);
    const organization = invited.organizationName ?? place.settings.displayName;
    const message = text('invitation.joined', { organization });
    return sendDone(reply, place, { message, to: `/realms/${place.realm}/account`, words: text('invitation.account') });
  });

  app.post(`${at}/register`, { schema: { hide: true } }, async (request, reply) => {
    const { place, invited, form } = await posted(request);
    if (!invited) return sendOver(reply, place);
    const { realm, settings: policy } = place;
    const inputs = await invitations.inputs(realm);
    const { password, repeated, passkey: made, label = '', instead, token: _, ...values } = form;
    const choice = { inputs, takesPasskey: await takesPasskey(request, place), values };
    const again = (faults: readonly FieldFault[]) => sendChoice(reply, place, invited, { ...choice, faults });
    if (instead !== undefined)
      return sendChoice(reply, place, invited, { ...choice, values: { ...values, how: 'password' } });
    const username = policy.registrationEmailAsUsername ? undefined : (form.username ?? '').trim();
    const nobody = { username, firstName: null, lastName: null, attributes: {} };
    const person = withValues(inputs, valuesIn(inputs, form), nobody);
    const terms = termsOf(policy);
    const named = label.trim().slice(0, LABEL_MAX);
    const site = siteOf(request, policy, baseUrl);
    const byPasskey = { passkey: made, label: named === '' ? null : named, site, realmName: policy.displayName };
    const proof = choice.takesPasskey && form.how === 'passkey' ? byPasskey : { password, repeated };
    const account = { person, proof, terms, unaccepted: termsFault(policy, form) };
    const registered = await invitations.register(realm, place.token, account, request.ip);
    if (registered.do === 'over') return sendOver(reply, place);
    if (registered.do === 'taken') return again([{ field: 'form', message: text('register.taken') }]);
    if (registered.do === 'faults') return again(registered.faults);
    if (registered.do === 'passkey') {
      const message = text('passkey.notSetUp');
      const complaint = registered.failed ? { field: 'form', message, values: { label: named } } : undefined;
      const page = enrolmentPage(registered.creation, complaint);
      return sendPasskey(reply, place, { page, wrong: complaint, values });
    }
    const to = `/realms/${realm}/login?for=account`;
    return sendDone(reply, place, { message: text('invitation.made'), to, words: text('recover.goOn') });
  });
}
