// Hosted CAPTCHAs: they prevent programs from creating accounts, if the setting `captchaProvider` names one.
// Specification 2.3, 4.2.
import { z } from 'zod';
import { kind } from './kind.ts';
import { HttpsAddress, name, text } from './names.ts';

export const HostedCaptcha = z.enum(['recaptcha', 'hcaptcha', 'turnstile']);
export type HostedCaptcha = z.infer<typeof HostedCaptcha>;

export const captchas = kind({
  section: 'captchas',
  kind: 'captcha',
  one: 'a CAPTCHA',
  many: 'CAPTCHAs',
  description: 'Keys of the hosted CAPTCHAs',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm; of several of a provider, the first by name counts'),
    provider: HostedCaptcha.describe('Google reCAPTCHA v2 (checkbox), hCaptcha, Cloudflare Turnstile'),
    siteKey: text(255).min(1).describe('The public one, which pages show'),
    verifyUrl: HttpsAddress.nullable().describe('Where answers are checked; null: the provider’s own address'),
  },
  needed: ['provider', 'siteKey'],
  secrets: { secret: text(1024).min(1).describe('What answers are checked with; write-only') },
  most: 100,
  form: { lead: 'Keys of hosted CAPTCHAs, which keep programs from making accounts' },
  example: {
    name: 'turnstile',
    provider: 'turnstile',
    siteKey: '1x00000000000000000000AA',
    secret: 'a secret of its own',
  },
  updateExample: {
    provider: 'hcaptcha',
    siteKey: '2x00000000000000000000AB',
    verifyUrl: 'https://captcha.example.com/siteverify',
    secret: 'another secret',
  },
});
