// Owns: creating a message in the transaction of its cause: rendered, encrypted, counted, and enqueued.
// Does not own: sending it (delivery.ts).
// Implements: specification 2.6; decisions "Messaging". The caller can't learn whether a message has a recipient: without
// one, or beyond a limit, the same work is done, and the worker drops the message.

import { z } from 'zod';
import { HOUR_SECONDS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import { type Channel, DriverName } from '../../../contract/message-drivers.ts';
import { messages } from '../../../contract/message-keys.ts';
import type { TemplateKey } from '../../../contract/message-templates.ts';
import { addressFault, isSecret } from '../../../contract/secret-placeholders.ts';
import { NIL_ID } from '../../../crypto/ids.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { createTellOnce } from '../../../domain/told-once.ts';
import { spokenHere } from '../../../http/spoken.ts';
import type { SettingsService } from '../settings/service.ts';
import { htmlOfText, type MailBrand } from './html-of-text.ts';
import type { Limiter } from './limits.ts';
import { addressDigest, personDigest } from './named.ts';
import { placementFault } from './placement.ts';
import { devicesOf } from './push-tokens.ts';
import { type Rendered, render } from './render.ts';
import * as store from './store.ts';
import type { Texts } from './texts.ts';
import { directionIn, type MessageWords, momentIn, spanIn, wordsIn } from './words.ts';

/** The encrypted part of a message: recipient and text. */
export const Content = z.object({
  to: z.string(),
  subject: z.string().nullable(),
  body: z.string(),
  html: z.boolean(),
  /** The HTML version of a text mail. */
  alternative: z.string().optional(),
  /** The gateway and the device of a push message. */
  driver: DriverName.optional(),
  pushTokenId: z.uuid().optional(),
  /** A push message's data for the app, which the app doesn't display. */
  data: z.record(z.string(), z.string()).optional(),
  /** Codes and links, which a gateway's stored answer must not repeat. */
  secrets: z.array(z.string()),
});
export type Content = z.infer<typeof Content>;
export const contentContext = (realm: string, id: string): string => `message:${realm}:${id}`;

export interface Request {
  realm: string;
  /** The id that an e-mail gets, for a caller that looks up what became of it. */
  id?: string;
  by: By;
  /** null: there is no such user, which the caller must not learn. */
  userId: string | null;
  /** The recipient has no account, but has the address `to`. */
  stranger?: true;
  /** The message stays when the user is deleted. */
  outlives?: true;
  /** The account that requests a message to an address of its choice; null: no account, or the account's own address. */
  requester?: string | null;
  /** An administrator requests the message: the limit of network addresses doesn't count it. */
  byAdministrator?: true;
  /** An e-mail address or a phone number; null: there is none. Not for push messages, which go to the user's devices. */
  to?: string | null;
  templateKey: TemplateKey;
  /** Ids of other users that the message names: it is deleted with them. */
  names?: readonly string[];
  /** `code`, `link`, …; `ttl` and the user's values are added. A function returns its text in the message's language. */
  values: Readonly<Record<string, string | Date | ((words: MessageWords) => string)>>;
  /** A push message's data for the app, which the app doesn't display. */
  data?: Readonly<Record<string, string>>;
  /** How long the message is useful, shown as `ttl`. */
  goodForSeconds?: number;
}
interface Recipient {
  to: string;
  shown: string;
  driver?: DriverName;
  pushTokenId?: string;
}
interface Words {
  rendered: Rendered;
  locale: string;
  /** The values that a gateway's stored answer must not repeat. */
  secrets: string[];
}

export interface SendDeps {
  seal: Seal;
  settings: Pick<SettingsService, 'of'>;
  texts: Texts;
  limits: Limiter;
  enqueue(sql: Sql, messages: readonly { realm: string; id: string; channel: Channel }[]): Promise<void>;
  warn: (words: string) => void;
  now: () => Date;
  newId: () => string;
}

/** Templates that tell users of changes to their account. */
const NOTICES: ReadonlySet<string> = new Set(['new-device-email', 'account-changed-email']);

export function createSend({ seal, settings, texts, limits, enqueue, warn, now, newId }: SendDeps) {
  const tellOnce = createTellOnce();
  async function recipientsOf(
    sql: Sql,
    channel: Channel,
    { realm, userId, stranger, to }: Request,
  ): Promise<Recipient[]> {
    if (channel !== 'PUSH') return (userId === null && !stranger) || !to ? [] : [{ to, shown: shortenedAddress(to) }];
    if (userId === null) return [];
    return (await devicesOf(sql, seal, realm, userId)).map(({ id, platform, token, deviceName }) => ({
      to: token,
      shown: deviceName ?? platform,
      driver: platform,
      pushTokenId: id,
    }));
  }

  /** The message's text, in the user's language. */
  async function wordsOf(
    sql: Sql,
    { realm, stranger, to, templateKey, values, goodForSeconds = HOUR_SECONDS }: Request,
    person: store.PersonRow | undefined,
  ): Promise<Words> {
    const wanted = [person?.attributes.locale?.[0], spokenHere()].filter((tag) => tag !== undefined);
    const text = await texts.of(sql, realm, templateKey, wanted);
    const fault = text.html ? await placementFault(text.body) : addressFault(text.body);
    if (fault !== undefined)
      tellOnce(
        `Messages of ${templateKey} in realm ${realm} (${text.locale}) lack a value: the template ${fault}`,
        warn,
      );
    const inWords = (value: Request['values'][string]): string => {
      if (value instanceof Date) return momentIn(text.locale, value);
      return typeof value === 'string' ? value : value(wordsIn(text.locale));
    };
    const said = Object.entries(values).map(([name, value]): [string, string] => [name, inWords(value)]);
    const ttl = spanIn(text.locale, goodForSeconds);
    // For a recipient without an account only the address is used: a name that anyone can type could carry any text to
    // any address.
    const whom = person || !stranger || !to ? ofPerson(person) : [['user', to] as const, ['user.email', to] as const];
    return {
      locale: text.locale,
      rendered: await render(text, new Map([['realm', text.realmName], ['ttl', ttl], ...whom, ...said])),
      secrets: said.flatMap(([name, value]) => (isSecret(name) ? [value] : [])),
    };
  }

  /** @param recipient undefined: the worker drops the message */
  function rowFor(
    { realm, id = newId(), userId, templateKey, names = [], data, outlives, goodForSeconds = HOUR_SECONDS }: Request,
    recipient: Recipient | undefined,
    { rendered, secrets, alternative }: Words & { alternative: string | undefined },
    at: Date,
  ): store.NewMessage {
    const { channel } = messages[templateKey];
    const { to = '', shown = '', ...device } = recipient ?? {};
    const content: Content = { to, ...rendered, alternative, ...device, secrets, ...(data && { data }) };
    const sealed = seal.seal(JSON.stringify(content), contentContext(realm, id));
    const named = [
      ...names.map((name) => personDigest(seal, name)),
      ...(channel === 'EMAIL' ? [addressDigest(seal, realm, to)] : []),
    ];
    // A message about the erasure itself isn't deleted with the user.
    const goesWithThem = recipient !== undefined && !outlives;
    return {
      id,
      channel,
      templateKey,
      userId: goesWithThem ? userId : null,
      recipient: shown,
      content: recipient ? sealed : null,
      named: goesWithThem ? named : [],
      expiresAt: new Date(at.getTime() + goodForSeconds * 1000),
    };
  }

  /** Does nothing if the channel has no provider. @returns whether the message has a recipient; pages must not reveal it */
  return async function send(tx: Tx, request: Request): Promise<boolean> {
    const { realm, by, userId, templateKey, requester = null, byAdministrator = false } = request;
    const { channel } = messages[templateKey];
    const policy = await settings.of(realm);
    if (!policy || (await store.enabledProviders(tx.sql, realm, channel)).length === 0) return false;
    const recipients = await recipientsOf(tx.sql, channel, request);
    const person = await store.person(tx.sql, realm, userId ?? NIL_ID);
    const text = await wordsOf(tx.sql, request, person);
    const words = { ...text, alternative: channel === 'EMAIL' ? alternativeOf(text, request, policy) : undefined };
    const [counted = newId()] = userId !== null && channel === 'PUSH' ? [userId] : recipients.map(({ to }) => to);
    const beyond = await limits.take(tx.sql, realm, policy, {
      channel,
      recipient: counted,
      requester,
      ipAddress: byAdministrator ? null : by.ipAddress,
      forNobody: recipients.length === 0,
      notice: NOTICES.has(templateKey),
    });
    const goesOut = beyond === undefined && recipients.length > 0;
    const at = now();
    const rows = (goesOut ? recipients : [undefined]).map((recipient) => rowFor(request, recipient, words, at));
    await store.insertMessages(tx.sql, realm, rows, at);
    const ids = rows.map(({ id }) => id);
    await enqueue(
      tx.sql,
      ids.map((id) => ({ realm, id, channel })),
    );
    const subject = userId === null ? null : ({ type: 'user', id: userId, name: person?.username ?? null } as const);
    const data = { channel, templateKey };
    if (goesOut) tx.record({ type: 'MESSAGE_QUEUED', realm, by, subject, data: { ...data, messages: ids } });
    else
      tx.record({
        type: 'MESSAGE_SUPPRESSED',
        realm,
        by,
        subject,
        outcome: 'denied',
        data: { ...data, reason: beyond === undefined ? 'no recipient' : `more than the limit of the ${beyond}` },
      });
    return goesOut;
  };
}
export type Send = ReturnType<typeof createSend>;

/** The HTML version of a text mail; undefined: the mail is HTML itself. */
export function alternativeOf(
  { rendered, locale }: Pick<Words, 'rendered' | 'locale'>,
  { templateKey, values: { link } }: Pick<Request, 'templateKey' | 'values'>,
  brand: MailBrand,
) {
  if (rendered.html) return undefined;
  const label = wordsIn(locale).buttons[templateKey];
  return htmlOfText(rendered.body, {
    brand,
    button: typeof link === 'string' && label !== undefined ? { link, label } : undefined,
    title: rendered.subject ?? brand.displayName,
    language: locale,
    direction: directionIn(locale),
  });
}

function ofPerson(person: store.PersonRow | undefined): [string, string][] {
  if (!person) return [];
  const { username, email, first_name: firstName, last_name: lastName, attributes } = person;
  const own = Object.entries({ username, email, firstName, lastName });
  return [
    ['user', firstName ?? username],
    ...Object.entries(attributes).map(([name, [first = '']]): [string, string] => [`user.${name}`, first]),
    ...own.map(([name, value]): [string, string] => [`user.${name}`, value ?? '']),
  ];
}

/** `ada@example.com` → `a…@example.com`, `+491701234567` → `…67`. */
function shortenedAddress(to: string): string {
  const at = to.lastIndexOf('@');
  return at > 0 ? `${to.slice(0, 1)}…${to.slice(at)}` : `…${to.slice(-2)}`;
}
