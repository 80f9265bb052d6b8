// A page of the realm as users would see it with branding and texts that are not stored yet. Nothing is stored.
// Decisions "Page preview".
import { z } from 'zod';
import { Locale } from './message-templates.ts';
import { messageTexts } from './message-texts.ts';
import { InRealm } from './names.ts';
import { route } from './route.ts';
import { settingsShape } from './settings.ts';

export const previewedPages = ['sign-in', 'consent', 'account'] as const;

const { displayName, logoUrl, primaryColor, backgroundColor, welcomeText, customCss } = settingsShape;
export const PagePreviewInput = z.strictObject({
  page: z.enum(previewedPages).describe('Which page: the first page of the realm’s sign-in, consent, or the account'),
  branding: z
    .strictObject({ displayName, logoUrl, primaryColor, backgroundColor, welcomeText, customCss })
    .partial()
    .optional()
    .describe('In place of the stored settings; a field that is left out is as stored'),
  locale: Locale.optional().describe('The language of the page; left out: the realm’s default'),
  texts: messageTexts.fields.texts
    .optional()
    .describe('In place of the realm’s stored texts of exactly this language; left out: as stored'),
  scheme: z.enum(['light', 'dark']).optional().describe('The colours; left out: as the reader’s system has them'),
  rightToLeft: z.boolean().optional().describe('The direction of the page; left out: the language’s'),
});
export type PagePreviewInput = z.infer<typeof PagePreviewInput>;

export const PagePreview = z
  .object({
    page: z.enum(previewedPages),
    locale: Locale.describe('The language of the page'),
    rightToLeft: z.boolean(),
    html: z
      .string()
      .describe('The whole page with its style sheet and the logo. It has no script, and its policy permits none'),
  })
  .meta({ id: 'PagePreview' });
export type PagePreview = z.infer<typeof PagePreview>;

export const previewPage = route({
  method: 'POST',
  path: '/admin/realms/:realm/page-preview',
  operationId: 'previewPage',
  tag: 'page-preview',
  summary: 'A page of the realm with branding and texts that are not stored',
  description:
    'Renders the page by the templates of the real one: with the realm’s flow, identity providers and languages, for a made-up user and application. Nothing is stored, and no form of the page works. A logo is fetched by the server and put into the page.',
  permission: 'settings:write',
  params: InRealm,
  body: PagePreviewInput,
  example: { page: 'sign-in', branding: { primaryColor: '#0a7c66' }, scheme: 'dark' },
  response: PagePreview,
  recordsNothing: true,
});
