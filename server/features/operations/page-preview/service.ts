// Owns: pages of a realm with branding and texts that are not stored, for a made-up user and application.
// Does not own: the pages themselves (their features), the document around a previewed page (document.ts).
// Implements: decisions "Page preview".
import type { FastifyRequest } from 'fastify';
import type { PagePreview, PagePreviewInput } from '../../../contract/page-preview.ts';
import { phrases, scopePhrases } from '../../../contract/phrases.ts';
import { type FieldError, Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import { bestOf, isWritten } from '../../../http/languages.ts';
import type { Outbound } from '../../../http/outbound.ts';
import type { Page } from '../../../http/pages.ts';
import { offeredBy, spokenIn } from '../../../http/spoken.ts';
import { text } from '../../../http/texts.ts';
import { accountPage, partsOf } from '../../authentication/account/pages.ts';
import { profileSection } from '../../authentication/account/sections.ts';
import { scopeDescriptions } from '../../authentication/account/store.ts';
import type { AuthenticatorRecord } from '../../authentication/authenticators/authenticator.ts';
import { linksOn, type PageLink } from '../../authentication/sign-in/links.ts';
import { stepPage } from '../../authentication/sign-in/pages.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { Languages } from '../../configuration/message-texts/languages.ts';
import { faultsOfTexts } from '../../configuration/message-texts/resource.ts';
import { changeOf, settingsFaults } from '../../configuration/settings/rules.ts';
import { agreementList, consentPage } from '../../people/consent/pages.ts';
import { documentOf } from './document.ts';
import { createPictures } from './picture.ts';

export interface PagePreviewDeps {
  sql: Sql;
  settings: { get(realm: string): Promise<RealmSettingsDto> };
  languages: Languages;
  signIns: Pick<SignIns, 'firstStep'>;
  registry: readonly AuthenticatorRecord[];
  links: readonly PageLink[];
  outbound: Pick<Outbound, 'fetch'>;
  baseUrl: string;
  now: () => Date;
}

const APPLICATION = 'Example';
const PERSON = { username: 'ada', email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' };
/** The scopes that the made-up application asks for. */
const SCOPES = ['profile', 'email', 'offline_access'];

export function createPagePreviews(deps: PagePreviewDeps) {
  const { sql, settings, languages, signIns, registry, links, outbound, baseUrl, now } = deps;

  const pictureOf = createPictures({ outbound, now });

  async function signInPage(request: FastifyRequest, realm: string, wanted: RealmSettingsDto): Promise<Page> {
    const asked = { realm, requiredLevel: 0, forced: false, request: null, continueAt: `/realms/${realm}/account` };
    const view = await signIns.firstStep(request, { ...asked, clientName: APPLICATION }, wanted);
    const ways = await linksOn(realm, view, { links, asked: undefined, tab: 0 });
    return stepPage(realm, view, { registry, asked: undefined, tab: 0, links: ways, cancels: true }).page;
  }

  async function consentOf(realm: string, brand: RealmSettingsDto): Promise<Page> {
    const described = new Map(await scopeDescriptions(sql, realm, SCOPES));
    const scopes = SCOPES.map((name) => {
      const code = scopePhrases.get(name);
      const description = described.get(name) ?? (code === undefined ? null : phrases[code]);
      return { name, description, inTokenScope: true, claims: [] };
    });
    const body = consentPage({
      answerAt: '',
      application: APPLICATION,
      about: undefined,
      origin: undefined,
      username: PERSON.username,
      agreement: agreementList({ scopes, openid: true, resources: [], claims: [], administers: false, details: [] }),
      request: '',
      since: 0,
      proof: '',
    });
    return { realm, brand, title: text('consent.title'), body, plain: true };
  }

  function accountOf(realm: string, brand: RealmSettingsDto): Page {
    const parts = partsOf(realm, { csrf: '', mayChange: true, now: now() });
    const name = [PERSON.first_name, PERSON.last_name].join(' ');
    const changes = [
      { action: 'UPDATE_PROFILE' as const, words: text('account.changeProfile') },
      { action: 'VERIFY_EMAIL' as const, words: text('account.changeEmail') },
    ];
    const view = { profile: PERSON, isUnconfirmed: false, name, attributes: [], changes };
    const content = { body: profileSection(view, parts) };
    return accountPage({
      realm,
      settings: brand,
      profile: PERSON,
      current: 'profile',
      content,
      parts,
      said: undefined,
    });
  }

  return {
    /** @throws Problem `invalid-request` for branding and texts that could not be stored either */
    async preview(request: FastifyRequest, realm: string, input: PagePreviewInput): Promise<PagePreview> {
      const { page, branding = {}, texts, scheme, rightToLeft } = input;
      const { wanted, changes } = changeOf(await settings.get(realm), branding);
      const locale = input.locale ?? wanted.defaultLocale;
      const offered = offeredBy(wanted);
      const errors: FieldError[] = [
        ...settingsFaults(wanted, { baseUrl, changed: changes.map(({ field }) => field) }).map(({ path, message }) => ({
          path: `branding.${path}`,
          message,
        })),
        ...(isWritten(locale) || input.locale !== undefined ? faultsOfTexts(locale, texts ?? {}) : []),
      ];
      if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
      const language = await (texts ? languages.unsaved(realm, locale, texts) : languages.of(realm, locale));
      const logo = wanted.logoUrl === null ? null : await pictureOf(realm, wanted.logoUrl);
      // a picture that can't be fetched is its name, as on the real page
      const brand = { ...wanted, logoUrl: wanted.logoUrl === null ? null : (logo ?? 'data:,') };
      const inUse = bestOf([locale], offered) === locale ? offered : [...offered, locale];
      return spokenIn(language, inUse, async () => {
        const shown =
          page === 'sign-in'
            ? await signInPage(request, realm, brand)
            : page === 'consent'
              ? await consentOf(realm, brand)
              : accountOf(realm, brand);
        const html = documentOf({ ...shown, realm, brand }, { languages: inUse, scheme, rightToLeft });
        return { page, locale, rightToLeft: rightToLeft ?? language.rightToLeft, html };
      });
    },
  };
}
export type PagePreviews = ReturnType<typeof createPagePreviews>;
