// Owns: the language that a request's pages are written in. In this order: the user's choice on a page, the application's
// `ui_locales`, the user's `locale`, the browser's languages, the realm's.
// Does not own: the texts (texts.ts), the list of languages (languages.ts).
// AsyncLocalStorage carries the language with the request, so that no function that writes a text needs it as a parameter.

import { AsyncLocalStorage } from 'node:async_hooks';
import type {} from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { phrase } from '../contract/phrases.ts';
import { Problem } from '../contract/problem.ts';
import type { Settings } from '../contract/settings.ts';
import {
  acceptedLanguages,
  bestOf,
  ENGLISH,
  isWritten,
  type Language,
  languageOf,
  TRANSLATED_LANGUAGES,
} from './languages.ts';
import { pathRealm } from './path-realm.ts';
import { realmCookie } from './realm-cookie.ts';

type Locales = Pick<Settings, 'defaultLocale' | 'supportedLocales'>;
/** A source of a higher weight replaces one of a lower weight. */
const weights = { browser: 0, person: 1, application: 2, chosen: 3 };

interface Spoken {
  language: Language;
  weight: number;
  offered: readonly string[];
  in(tag: string): Promise<Language>;
  /** Stores the application's language for the following pages. */
  keep(tag: string): void;
}

const COOKIE = 'SVC_LANGUAGE';
/** The prefix of the cookie's value if an application asked for the language, rather than the user. */
const ASKED = '~';
const YEAR_SECONDS = 31_536_000;
const current = new AsyncLocalStorage<Spoken>();

export const currentLanguage = (): Language => current.getStore()?.language ?? ENGLISH;
/** The language of the current request, if it shows pages. */
export const spokenHere = (): string | undefined => current.getStore()?.language.tag;
/** The languages that a page offers. */
export const offeredLanguages = (): readonly string[] => current.getStore()?.offered ?? [];

/** The languages of the realm that have a catalogue. */
export const offeredBy = ({ supportedLocales }: Pick<Settings, 'supportedLocales'>): string[] =>
  supportedLocales.filter(isWritten);

async function speak(wanted: readonly string[], by: keyof typeof weights): Promise<string | undefined> {
  const store = current.getStore();
  const tag = store && store.weight <= weights[by] ? bestOf(wanted, store.offered) : undefined;
  if (!store || tag === undefined) return undefined;
  store.weight = weights[by];
  if (tag !== store.language.tag) store.language = await store.in(tag);
  return tag;
}

/** `ui_locales` of a request: languages in the order of preference. OpenID Connect Core 3.1.2.1. */
export async function applicationSpeaks(uiLocales: string | undefined): Promise<void> {
  if (uiLocales === undefined) return;
  const tag = await speak(uiLocales.split(' ').slice(0, 20), 'application');
  if (tag !== undefined) current.getStore()?.keep(tag);
}

/** Uses the language of the user's profile. */
export async function personSpeaks(locale: string | null): Promise<void> {
  if (locale !== null) await speak([locale], 'person');
}

export interface SpokenDeps {
  settings: { of(realm: string): Promise<Locales | undefined> };
  /** Languages with the realm's own texts. */
  languages: { of(realm: string | undefined, tag: string): Promise<Language> };
  baseUrl: string;
}

async function begin(
  { settings, languages, baseUrl }: SpokenDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Spoken> {
  const realm = pathRealm(request);
  const locales = realm === undefined ? undefined : await settings.of(realm).catch(() => undefined);
  const cookie = realmCookie(baseUrl, COOKIE);
  const kept = realm === undefined ? undefined : request.cookies[cookie.nameIn(realm)];
  const offers = locales ? offeredBy(locales) : TRANSLATED_LANGUAGES;
  const ofRealm = locales && isWritten(locales.defaultLocale) ? locales.defaultLocale : ENGLISH.tag;
  const asked = kept?.startsWith(ASKED) ? bestOf([kept.slice(ASKED.length)], offers) : undefined;
  const chosen = kept && bestOf([kept], offers);
  const tag = chosen ?? asked ?? bestOf(acceptedLanguages(request.headers['accept-language']), offers) ?? ofRealm;
  return {
    language: await languages.of(realm, tag),
    in: (wanted) => languages.of(realm, wanted),
    weight: chosen ? weights.chosen : asked ? weights.application : weights.browser,
    offered: offers,
    keep: (asked) => {
      if (realm !== undefined) void reply.setCookie(cookie.nameIn(realm), ASKED + asked, cookie.options(realm));
    },
  };
}

/** Shows each page of the plugin in the language of its request. */
export function speaksTo(app: FastifyInstance, deps: SpokenDeps): void {
  // After the body is read: AsyncLocalStorage does not reach the body's events.
  app.addHook('preHandler', (request, reply, done) => {
    begin(deps, request, reply).then((store) => current.run(store, done), done);
  });
}

/** Writes a page of no realm, in a language that the browser accepts. */
export async function spokenTo<T>({ headers }: FastifyRequest, write: () => T): Promise<T> {
  const language = await languageOf(
    bestOf(acceptedLanguages(headers['accept-language']), TRANSLATED_LANGUAGES) ?? ENGLISH.tag,
  );
  return current.run({ language, weight: weights.browser, offered: [], in: languageOf, keep: () => {} }, write);
}

/** Writes a page in the language, whichever the request accepts. */
export const spokenIn = <T>(language: Language, offered: readonly string[], write: () => T): T =>
  current.run({ language, weight: weights.chosen, offered, in: languageOf, keep: () => {} }, write);

const Params = z.object({ realm: z.string() });
const Chosen = z.object({ locale: z.string().max(35), back: z.string().max(4000) });

/** The route that the language switch of the pages posts to. */
export function languageRoute(app: FastifyInstance, { settings, baseUrl }: Omit<SpokenDeps, 'languages'>): void {
  const cookie = realmCookie(baseUrl, COOKIE);
  app.post('/realms/:realm/language', { schema: { hide: true } }, async (request, reply) => {
    const { realm } = Params.parse(request.params);
    const locales = await settings.of(realm);
    const form = Chosen.safeParse(request.body);
    if (!locales) throw new Problem('not-found', phrase('noRealm'));
    if (!form.success || !offeredBy(locales).includes(form.data.locale)) throw new Problem('invalid-request');
    const back = URL.canParse(form.data.back, baseUrl) ? new URL(form.data.back, baseUrl) : undefined;
    const isOurs = back?.origin === new URL(baseUrl).origin && back.pathname.startsWith(`/realms/${realm}/`);
    void reply.setCookie(cookie.nameIn(realm), form.data.locale, { ...cookie.options(realm), maxAge: YEAR_SECONDS });
    return reply.redirect(isOurs ? back.pathname + back.search : `/realms/${realm}/account`, 303);
  });
}
