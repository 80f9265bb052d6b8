// The widget of a hosted CAPTCHA, and its provider's verdict about an answer. After any fault the answer is rejected.
// Specification 4.2; each provider's documentation of its widget, of `siteverify`, and of a content security policy.
import { z } from 'zod';
import { HostedCaptcha } from '../../../contract/captchas.ts';
import { errorWords } from '../../../contract/error-words.ts';
import type { Settings } from '../../../contract/settings.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Outbound } from '../../../http/outbound.ts';
import type { Foreign } from '../../../http/pages.ts';
import { sealed } from '../../../resource/at-rest.ts';
import { sealedAs } from '../../../resource/declared.ts';

interface Provider {
  /** The class of the element that the provider's script fills. */
  className: string;
  /** The form field that its script adds. */
  field: string;
  verifyUrl: string;
  page: Foreign;
}
const google = ['https://www.google.com/recaptcha/', 'https://www.gstatic.com/recaptcha/'];
const hcaptcha = ['https://hcaptcha.com', 'https://*.hcaptcha.com'];
const cloudflare = ['https://challenges.cloudflare.com'];
const providers: Record<HostedCaptcha, Provider> = {
  recaptcha: {
    className: 'g-recaptcha',
    field: 'g-recaptcha-response',
    verifyUrl: 'https://www.google.com/recaptcha/api/siteverify',
    page: {
      script: 'https://www.google.com/recaptcha/api.js',
      sources: {
        'script-src': google,
        'frame-src': ['https://www.google.com/recaptcha/', 'https://recaptcha.google.com/recaptcha/'],
        'connect-src': ['https://www.google.com/recaptcha/'],
      },
    },
  },
  hcaptcha: {
    className: 'h-captcha',
    field: 'h-captcha-response',
    verifyUrl: 'https://api.hcaptcha.com/siteverify',
    page: {
      script: 'https://js.hcaptcha.com/1/api.js',
      sources: { 'script-src': hcaptcha, 'frame-src': hcaptcha, 'style-src': hcaptcha, 'connect-src': hcaptcha },
    },
  },
  turnstile: {
    className: 'cf-turnstile',
    field: 'cf-turnstile-response',
    verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    page: {
      script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
      sources: { 'script-src': cloudflare, 'frame-src': cloudflare, 'connect-src': cloudflare },
    },
  },
};

const LIMITS = { timeoutMs: 5_000, maxBytes: 64 * 1024 };
const LONGEST = 8_192;
const Verdict = z.looseObject({ success: z.boolean() });

export interface CaptchaWidget {
  className: string;
  siteKey: string;
  page: Foreign;
}
interface Row {
  id: string;
  siteKey: string;
  verifyUrl: string | null;
  secret: Buffer | null;
}

export interface CaptchaDeps {
  sql: Sql;
  seal: Seal;
  outbound: Pick<Outbound, 'fetch'>;
  log(message: string): void;
}

export function createCaptchas({ sql, seal, outbound, log }: CaptchaDeps) {
  const secrets = sealed(seal, sealedAs('captcha'));
  async function rowOf(realm: string, provider: HostedCaptcha): Promise<Row | undefined> {
    const [row] = await sql<Row>`
      select id, site_key as "siteKey", verify_url as "verifyUrl", secret from captcha
      where realm_id = ${realm} and provider = ${provider} order by name collate "C" limit 1`;
    return row;
  }
  const hostedIn = ({ captchaProvider }: Pick<Settings, 'captchaProvider'>) =>
    HostedCaptcha.safeParse(captchaProvider).data;

  return {
    /** Form fields of the CAPTCHA: they hold no data of the user. */
    fields: Object.values(providers).map(({ field }) => field),

    /** Whether the realm uses a hosted CAPTCHA. */
    asks: (settings: Pick<Settings, 'captchaProvider'>): boolean => hostedIn(settings) !== undefined,

    /** The widget of a page; undefined: the realm uses none, or has no keys for it. */
    async widget(realm: string, settings: Pick<Settings, 'captchaProvider'>): Promise<CaptchaWidget | undefined> {
      const hosted = hostedIn(settings);
      const row = hosted && (await rowOf(realm, hosted));
      if (!hosted || !row?.secret) return undefined;
      const { className, page } = providers[hosted];
      return { className, siteKey: row.siteKey, page };
    },

    /** Whether the provider accepts the form's answer. The provider gets only the answer, not the user. */
    async passes(
      realm: string,
      settings: Pick<Settings, 'captchaProvider'>,
      form: Readonly<Record<string, string>>,
    ): Promise<boolean> {
      const hosted = hostedIn(settings);
      if (!hosted) return false;
      const { field, verifyUrl } = providers[hosted];
      const response = form[field] ?? '';
      if (response === '' || response.length > LONGEST) return false;
      const row = await rowOf(realm, hosted);
      if (!row?.secret) return false;
      const secret = secrets.open(row.secret, { realm, id: row.id });
      try {
        const { status, body } = await outbound.fetch(row.verifyUrl ?? verifyUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: String(new URLSearchParams({ secret, response, sitekey: row.siteKey })),
          ...LIMITS,
        });
        if (status !== 200) throw new Error(`it answered ${status}`);
        return Verdict.parse(JSON.parse(body.toString())).success;
      } catch (error) {
        log(
          `the CAPTCHA ${hosted} of the realm ${realm} could not be asked, so no answer passed: ${errorWords(error)}`,
        );
        return false;
      }
    },
  };
}
export type Captchas = ReturnType<typeof createCaptchas>;
