// Channels of messages, their drivers, and each driver's configuration. Specification 2.5; decisions "Messaging".
// features/configuration/messaging sends messages.
import { z } from 'zod';
import { Email } from './email.ts';
import { name, text } from './names.ts';

export const Channel = z.enum(['EMAIL', 'SMS', 'PUSH']);
export type Channel = z.infer<typeof Channel>;
export const DriverName = z.enum(['smtp', 'http', 'twilio', 'fcm', 'apns']);
export type DriverName = z.infer<typeof DriverName>;

/** The drivers of each channel. */
export const driversOf: Readonly<Record<Channel, readonly DriverName[]>> = {
  EMAIL: ['smtp', 'http'],
  SMS: ['http', 'twilio'],
  PUSH: ['fcm', 'apns'],
};

const https = z
  .url({ protocol: /^https$/, error: 'must be an absolute https address' })
  .max(2048)
  .refine((s) => !s.includes('\0'), 'must not contain NUL')
  .refine((s) => !/^[^/]*\/\/[^/]*@/.test(s), 'must not hold a user name or password');
const apiUrl = https.optional().describe('Where the service is, if not at its usual address');

/** `{{to}}`, `{{secret}}`: placeholders in a gateway's request. */
export const PLACEHOLDER = /\{\{\s*(?!\s)((?:[^{}]*[^{}\s])?)\s*\}\}/g;
const ofGateways: ReadonlySet<string> = new Set('to from fromName subject text html secret'.split(' '));
/** The fault of a text with a placeholder that isn't `known`; undefined: it has none. */
export function placeholderFault(template: string, known: (placeholder: string) => boolean): string | undefined {
  const unknown = [...template.matchAll(PLACEHOLDER)].map(([, of = '']) => of).filter((of) => !known(of));
  if (unknown.length > 0) return `there is no placeholder {{${unknown[0]}}}`;
  return /\{\{|\}\}/.test(template.replaceAll(PLACEHOLDER, ''))
    ? 'has a {{ or }} that belongs to no placeholder'
    : undefined;
}
const gatewayText = (max: number) =>
  text(max).superRefine((s, context) => {
    const fault = placeholderFault(s, (of) => ofGateways.has(of));
    if (fault) context.addIssue(`${fault}; there are ${[...ofGateways].join(', ')}`);
  });

/** RFC 9110: without names that Node refuses to send, and those that control the connection. */
const HeaderName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')
  .refine(
    (s) => !/^(host|content-length|transfer-encoding|connection|upgrade|expect)$/i.test(s),
    'is a header that the server itself sets',
  );
const headers = z
  .record(
    HeaderName,
    gatewayText(2000).refine((s) => !/[\r\n]/.test(s), 'must be one line'),
  )
  .refine((of) => Object.keys(of).length <= 20, 'must be at most 20')
  .superRefine((of, context) => {
    for (const [header, value] of Object.entries(of))
      if (/^(proxy-)?authorization$/i.test(header) && !value.includes('{{'))
        context.addIssue({
          code: 'custom',
          path: [header],
          message: 'would be readable; put it into the secret, and name that here by {{secret}}',
        });
  });

export const SmtpConfig = z
  .strictObject({
    host: z
      .union([z.hostname(), z.ipv4(), z.ipv6()], 'must be the name or address of a host')
      .describe('The mail server'),
    port: z.int().min(1).max(65_535).optional().describe('Default 587; 465 with tls, 25 with none'),
    username: text(255).min(1).optional().describe('Signs in with the secret as its password'),
    tls: z
      .enum(['none', 'starttls', 'tls'])
      .optional()
      .describe(
        'starttls (the default): nothing is sent before the connection is encrypted; tls from the first byte; none',
      ),
    replyTo: Email.optional().describe('Where answers go'),
  })
  .refine((config) => config.tls !== 'none' || config.username === undefined, {
    path: ['username'],
    message: 'would sign in over a connection that is not encrypted; use starttls or tls',
  });

const inAddress: ReadonlySet<string> = new Set([...ofGateways].filter((of) => of !== 'secret'));
const gatewayUrl = https.superRefine((s, context) => {
  const fault = placeholderFault(s, (of) => inAddress.has(of));
  if (fault) context.addIssue(`${fault}; in an address there are ${[...inAddress].join(', ')}`);
  else if (/^[^/]*\/\/[^/?#]*\{\{/.test(s)) context.addIssue('must not have a placeholder in its host');
});

const HttpFields = z.strictObject({
  url: gatewayUrl.describe('The gateway; its path and query may hold placeholders, though not {{secret}}'),
  method: z.enum(['POST', 'PUT']).optional().describe('Default POST'),
  headers: headers.optional().describe('More headers; their values may hold placeholders, {{secret}} among them'),
  format: z
    .enum(['json', 'form', 'text'])
    .optional()
    .describe('What the body is, and so how values are escaped in it; default json'),
  body: gatewayText(20_000)
    .optional()
    .describe(
      'Placeholders: to, from, fromName, subject, text, html, secret. Left out: {"to": …, "text": …}, for e-mail with subject and html',
    ),
  success: text(200)
    .min(1)
    .optional()
    .describe(
      'What an answer of 2xx must hold to count; without it the message is given up. Left out: any answer of 2xx',
    ),
});
export const HttpConfig = HttpFields.refine(
  ({ format = 'json', body }) => body === undefined || format !== 'json' || isJson(body.replaceAll(PLACEHOLDER, 'x')),
  { path: ['body'], message: 'must be JSON, placeholders within quotes' },
);
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export const TwilioConfig = z.strictObject({
  accountSid: z.string().regex(/^AC[0-9a-f]{32}$/, 'must be AC and 32 hexadecimal digits'),
  apiKeySid: z
    .string()
    .regex(/^SK[0-9a-f]{32}$/, 'must be SK and 32 hexadecimal digits')
    .optional()
    .describe('The secret is this key’s; left out: it is the account’s token'),
  messagingServiceSid: z
    .string()
    .regex(/^MG[0-9a-f]{32}$/, 'must be MG and 32 hexadecimal digits')
    .optional()
    .describe('Chooses the sender; left out: fromAddress is the sender'),
  apiUrl,
});

export const FcmConfig = z.strictObject({
  projectId: z.string().regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'must be the id of a project'),
  apiUrl,
});
/** The secret: the service account's key file, as downloaded. */
export const FcmServiceAccount = z.object({
  client_email: z.string().min(1),
  private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
  private_key_id: z.string().optional(),
  token_uri: https.default('https://oauth2.googleapis.com/token'),
});

const TEN = /^[A-Z0-9]{10}$/;
export const ApnsConfig = z.strictObject({
  teamId: z.string().regex(TEN, 'must be ten capital letters and digits'),
  keyId: z.string().regex(TEN, 'must be ten capital letters and digits'),
  bundleId: name(255)
    .regex(/^[A-Za-z0-9.-]+$/, 'must be an app’s bundle id')
    .describe('The app; sent as apns-topic'),
  sandbox: z.boolean().optional().describe('true: the development environment'),
  apiUrl,
});

/**
 * The fields that decide where a driver's secret is sent. An administrator who changes one must enter the secret again.
 */
export const sendsSecretBy: Readonly<Record<DriverName, readonly string[]>> = {
  smtp: ['host', 'port', 'tls'],
  http: ['url', 'headers', 'body'],
  twilio: ['apiUrl'],
  fcm: ['apiUrl'],
  apns: ['apiUrl'],
};

export const driverConfigs = {
  smtp: SmtpConfig,
  http: HttpConfig,
  twilio: TwilioConfig,
  fcm: FcmConfig,
  apns: ApnsConfig,
} as const satisfies Record<DriverName, z.ZodType>;
