// Owns: signing in with an identity provider, as a step of a sign-in: the way there and back, finding the user, and the link.
// Does not own: the providers' protocols (upstream.ts), new users (first-sign-in.ts), the providers' settings (features/configuration/identity-providers).
// Implements: decisions "Identity provider", "Single sign-on and freshness".
import { z } from 'zod';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { Tx } from '../../../db/transact.ts';
import { linkDigest, providerPath } from '../../../domain/links.ts';
import { Withdrawn } from '../../../domain/proof.ts';
import { text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import { applyProvided } from '../../people/users/provided.ts';
import type {
  Beside,
  Form,
  SignInEnd,
  Step,
  StepMemory,
  StepPage,
  StepVerdict,
} from '../authenticators/authenticator.ts';
import type { FirstSignIns } from './first-sign-in.ts';
import type { Links } from './links.ts';
import { goOnPage, nonePage, waysPage } from './pages.ts';
import { type Arrived, arrivedBy } from './person.ts';
import type { ProviderSessions } from './provider-sessions.ts';
import type { ProviderTokens } from './provider-tokens.ts';
import type { Provider, Providers } from './providers.ts';
import { Ended, Stage } from './stage.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

export interface BrokeringDeps {
  providers: Pick<Providers, 'enabled' | 'named'>;
  upstreams: Readonly<Partial<Record<Provider['type'], Upstream>>>;
  links: Pick<Links, 'find' | 'make' | 'used' | 'heard'>;
  firstSignIns: FirstSignIns;
  providerSessions: Pick<ProviderSessions, 'note'>;
  providerTokens: Pick<ProviderTokens, 'note'>;
  notify: Notify;
  seal: Seal;
  now: () => Date;
}

/** A path below the realm. It is registered at providers, so it must not change. */
const callbackPath = (realm: string, alias: string): string => `/realms/${realm}/broker/${alias}/endpoint`;
const wayTo = (realm: string, alias: string, tab: number): string =>
  `${providerPath(realm, alias)}${tab === 0 ? '' : `?tab=${tab}`}`;

export function createBrokering(deps: BrokeringDeps) {
  const { providers, upstreams, links, firstSignIns, providerSessions, providerTokens, notify, seal, now } = deps;
  const contextOf = (realm: string): string => `brokering:${realm}`;
  const sealed = (realm: string, value: Stage | Ended): string =>
    seal.seal(JSON.stringify(value), contextOf(realm)).toString('base64');
  const opened = (realm: string, kept: StepMemory): unknown =>
    kept.stage === undefined
      ? undefined
      : JSON.parse(seal.open(Buffer.from(kept.stage, 'base64'), contextOf(realm)).toString());
  const stageOf = ({ realm, kept }: Step): Stage | undefined => {
    const stage = opened(realm, kept);
    return stage === undefined ? undefined : Stage.parse(stage);
  };
  function noteSession(
    atLast: Parameters<ProviderSessions['note']>[0],
    realm: string,
    { session, ...of }: { sessionId: string; linkId: string; session: Arrived['session'] },
  ): void {
    if (session) providerSessions.note(atLast, realm, { ...of, ...session });
    if (session?.token) providerTokens.note(atLast, realm, of.linkId, session.token);
  }
  type Whose = Omit<SignInEnd, 'sessionId'>;
  const endedOf = ({ realm, kept }: Whose): Ended => Ended.parse(opened(realm, kept));
  /** Writes the provider's data to the user, unless a later sign-in has already written newer data. */
  async function follow(tx: Tx, { realm, by, user }: Whose, ended: Ended): Promise<void> {
    const said = 'link' in ended ? ended.said : ended.connect;
    if (!said) return;
    // Another sign-in that visited the provider later may have ended first.
    const isLatest = !('link' in ended) || (await links.heard(tx, realm, ended.link, new Date(ended.said?.at ?? 0)));
    if (!isLatest) return;
    const { alias: from, emailVerified, provided } = said;
    await applyProvided(tx, by, realm, user.id, provided, { from, emailVerified });
  }
  /** The alias that the flow or the application requires; undefined: the user chooses. */
  const wanted = ({ config, providerHint }: Step): string | undefined =>
    typeof config.provider === 'string' ? config.provider : providerHint;

  const again = (message: string, reason = ''): StepVerdict => ({
    do: 'again',
    complaint: { field: 'form', message },
    reason,
    keep: {},
    leaves: true,
  });

  async function waysIn({ realm, tab, config }: Pick<Step, 'realm' | 'tab' | 'config'>) {
    const all = await providers.enabled(realm);
    return all
      .filter(({ alias, hidden, type }) =>
        config.provider === undefined ? !hidden && upstreams[type] : config.provider === alias,
      )
      .map(({ alias, title, config: { issuer } }) => ({
        words: text('provider.way', { provider: title }),
        path: wayTo(realm, alias, tab),
        title,
        host: typeof issuer === 'string' && URL.canParse(issuer) ? new URL(issuer).hostname : undefined,
      }));
  }

  async function send(step: Step, alias: string, loginHint: string): Promise<StepVerdict> {
    const { realm, site, anew } = step;
    const provider = await providers.named(realm, alias);
    const upstream = provider && upstreams[provider.type];
    if (!upstream) return again(text('provider.none'));
    const state = newSecret();
    const callback = `${site.origin}${callbackPath(realm, alias)}`;
    try {
      const { url, luggage } = await upstream.depart(provider, { realm, callback, state, loginHint, anew });
      const stage: Stage = { is: 'away', alias, luggage, callback, anew, at: now().getTime() };
      const address = linkDigest(state);
      return { do: 'kept', keep: { stage: sealed(realm, stage), address }, address, leadsTo: url };
    } catch (error) {
      return refused(error, provider);
    }
  }

  const refused = (error: unknown, { title }: Provider): StepVerdict => {
    if (!(error instanceof UpstreamError)) throw error;
    return again(text('provider.refused', { provider: title }), `provider-${error.reason}`);
  };

  /** The browser has returned from the provider to which it was sent. */
  async function back(step: Step, stage: Extract<Stage, { is: 'away' }>, form: Form): Promise<StepVerdict> {
    const { realm, kept } = step;
    const { alias, luggage, callback, anew } = stage;
    // The answer is from another provider (mix-up attack), so it is not used.
    if (!sameSecret(linkDigest(form.link ?? ''), kept.address ?? '') || form.provider !== alias)
      return again(text('provider.none'), 'provider-state');
    const provider = await providers.named(realm, alias);
    const upstream = provider && upstreams[provider.type];
    if (!upstream) return again(text('provider.none'));
    try {
      const answer = Answer.parse(JSON.parse(form.answer ?? '{}'));
      const leftAt = new Date(stage.at);
      const identity = await upstream.arrive(provider, { realm, callback, luggage, anew, leftAt, answer });
      return await found(step, provider, identity);
    } catch (error) {
      return refused(error, provider);
    }
  }

  async function found(step: Step, provider: Provider, identity: Awaited<ReturnType<Upstream['arrive']>>) {
    const { realm, settings } = step;
    const arrived = arrivedBy(provider, identity, { byEmail: settings.registrationEmailAsUsername });
    const link = await links.find(realm, arrived);
    if (!link) return wrapped(step, await firstSignIns.begin(step, provider, arrived));
    const { session, alias, emailVerified, provided } = arrived;
    const said = provider.syncMode === 'always' ? { alias, emailVerified, provided, at: now().getTime() } : undefined;
    const atEnd = { stage: sealed(realm, { link: link.id, session, said }) };
    const first = link.isNew ? firstOf(provider) : {};
    return { do: 'passed', user: link.user, identityId: link.id, atEnd, ...first } as const;
  }

  /** The flow that the provider's new users must pass. */
  const firstOf = (provider: Provider | undefined) =>
    provider?.firstLoginFlow ? { firstFlow: provider.firstLoginFlow } : {};

  /** Converts the outcome of a first sign-in to a verdict and the values to keep. */
  async function wrapped({ realm }: Step, outcome: Awaited<ReturnType<FirstSignIns['begin']>>): Promise<StepVerdict> {
    if (outcome.do === 'verdict') return outcome.verdict;
    if (outcome.do === 'stage') {
      const { stage, complaint } = outcome;
      const address = 'code' in stage ? stage.code?.address : undefined;
      const found = address !== undefined && { address };
      const keep = { stage: sealed(realm, stage), ...found };
      if (complaint) return { do: 'again', complaint, reason: 'code-wrong', keep };
      return { do: 'kept', keep, ...found };
    }
    const first = firstOf(await providers.named(realm, outcome.arrived.alias));
    if (outcome.do === 'made')
      return {
        do: 'passed',
        user: outcome.user,
        identityId: outcome.linkId,
        atEnd: { stage: sealed(realm, { link: outcome.linkId, session: outcome.arrived.session }) },
        ...first,
      };
    const { user, credentialId, arrived } = outcome;
    return {
      do: 'passed',
      user,
      ...(credentialId !== undefined && { credentialId }),
      atEnd: { stage: sealed(realm, { connect: arrived }) },
      ...first,
    };
  }

  return {
    async begin(step: Step, complaint: { field: string; message: string } | undefined): Promise<StepPage> {
      const stage = stageOf(step);
      if (stage && stage.is !== 'away') return firstSignIns.page(step, stage, complaint);
      const alias = wanted(step);
      const provider = alias === undefined ? undefined : await providers.named(step.realm, alias);
      if (provider && upstreams[provider.type]) {
        const path = wayTo(step.realm, provider.alias, step.tab);
        return { ...goOnPage(provider.title, path), ready: !stage && !complaint };
      }
      const ways = await waysIn(step);
      // The provider that the application asks for is not available, so the user chooses.
      const ready = provider === undefined && step.providerHint !== undefined && !stage && !complaint;
      return { ...(ways.length > 0 ? waysPage(ways) : nonePage()), ready };
    },

    async beside(step: Step): Promise<Beside> {
      return { ways: await waysIn(step) };
    },

    async verify(step: Step, form: Form): Promise<StepVerdict> {
      const stage = stageOf(step);
      if (stage?.is === 'away' && form.answer !== undefined) return back(step, stage, form);
      if (form.answer !== undefined) return again(text('provider.none'), 'provider-state');
      if (stage && stage.is !== 'away' && form.provider === undefined)
        return wrapped(step, await firstSignIns.go(step, stage, form));
      const alias = form.provider ?? wanted(step);
      if (alias === undefined) return again(text('provider.none'));
      const { config } = step;
      if (config.provider !== undefined && config.provider !== alias) return again(text('provider.none'));
      return send(step, alias, form.hint ?? step.loginHint);
    },

    /** Only values that users type can be guesses. */
    guesses: (_: Step, form: Form): boolean => form.answer === undefined && form.provider === undefined,

    foresee: (tx: Tx, end: Whose): Promise<void> => follow(tx, end, endedOf(end)),

    /** @throws an error for which `isWithdrawn` is true: a proof no longer holds */
    async atEnd(tx: Tx, end: SignInEnd): Promise<void> {
      const { realm, by, user, sessionId } = end;
      const ended = endedOf(end);
      if ('link' in ended) {
        links.used(tx.atLast, realm, ended.link);
        noteSession(tx.atLast, realm, { sessionId, linkId: ended.link, session: ended.session });
        await follow(tx, end, ended);
        return;
      }
      const arrived: Arrived = ended.connect;
      const linkId = await links.make(tx, by, realm, user, arrived, { used: true });
      if (linkId === undefined) throw new Withdrawn();
      noteSession(tx.atLast, realm, { sessionId, linkId, session: arrived.session });
      await follow(tx, end, ended);
      await notify(tx, { realm, by, userId: user.id, what: 'identity-linked' });
    },
  };
}
export type Brokering = ReturnType<typeof createBrokering>;

const Answer = z.record(z.string(), z.string());
