// Owns: which language a message is in.
// Does not own: what the texts are (messaging.words.unit.test.ts), the language of pages (languages.test.ts).
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putMessageTemplate } from '../../../server/contract/message-templates.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { TRANSLATED_LANGUAGES } from '../../../server/http/languages.ts';
import { linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { eventually } from '../../support/operator.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let site: MailingServer;
let receiver: Receiver;
let asking: Asking;
let realm = '';
let userId = '';
let realms = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  site = await startMailingServer({ caFiles: [receiver.caFile] });
  asking = startAsking(site.server);
});
afterAll(async () => {
  await asking?.stop();
  await site?.stop();
  await receiver?.stop();
});
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const speaks = (locale: string) =>
  call(putUser, { params: { realm, userId }, body: { attributes: { locale: [locale] } } });
const own = (locale: string, body: string, more: { enabled?: boolean } = {}) =>
  call(putMessageTemplate, { params: { realm }, body: { templateKey: 'otp-sms', locale, body, ...more } });

beforeEach(async () => {
  realms += 1;
  realm = `speaks-${realms}`;
  await call(createRealm, { body: { realm, displayName: 'Acme' } });
  await call(putSettings, {
    params: { realm },
    body: {
      supportedLocales: [...TRANSLATED_LANGUAGES],
      passwordRecoveryEnabled: true,
      maxMessagesPerRecipientPerHour: 100,
    },
  });
  const person = {
    username: 'ada',
    email: `ada@${realm}.example`,
    emailVerified: true,
    password: 'three wet umbrellas',
  };
  userId = (await call(createUser, { params: { realm }, body: person })).body?.id ?? '';
  await call(putMessagingProvider, {
    params: { realm },
    body: { channel: 'SMS', driver: 'http', config: { url: receiver.url } },
  });
  receiver.received.length = 0;
});

/** What the person's phone shows. */
async function sms(): Promise<string> {
  receiver.received.length = 0;
  await asking.ask({
    ...{ realm, userId, to: '+491701234567', templateKey: 'otp-sms' },
    ...{ values: { code: '493817' }, goodForSeconds: 600 },
  });
  await eventually(async () => expect(receiver.received).toHaveLength(1));
  const { text } = JSON.parse(String(receiver.received[0]?.raw));
  return text;
}

test('a message is in the person’s own language, with how long it is good', async () => {
  const said: [string, string][] = [
    ['de-CH', '493817 ist Ihr Code für Acme. Er gilt 10 Minuten.'],
    ['ja', 'Acme のコードは 493817 です。有効期間：10 分'],
    ['pt-BR', '493817 é o seu código para Acme. Validade: 10 minutos.'],
    ['sv', '493817 is your code for Acme. It is good for 10 minutes.'],
    ['<b>', '493817 is your code for Acme. It is good for 10 minutes.'],
  ];
  for (const [locale, words] of said) {
    await speaks(locale);
    expect(await sms()).toBe(words);
  }
});

test('the realm’s own words go before the built-in ones of their language, while they are switched on', async () => {
  await speaks('de');
  await own('en', 'English: {{code}}');
  expect(await sms()).toContain('Er gilt 10 Minuten');
  await own('de', 'Deutsch: {{code}}, {{ttl}}');
  expect(await sms()).toBe('Deutsch: 493817, 10 Minuten');
  await own('de', 'Deutsch: {{code}}', { enabled: false });
  expect(await sms()).toContain('Er gilt 10 Minuten');
});

test('a template in a new language begins with what is built in for it', async () => {
  const { body } = await call(putMessageTemplate, {
    params: { realm },
    body: { templateKey: 'otp-sms', locale: 'fr-CA', enabled: true },
  });
  expect(body?.body).toBe('{{code}} est votre code pour {{realm}}. Durée de validité : {{ttl}}.');
});

test('a language that the realm does not speak is not sent, unless the realm has words of its own in it', async () => {
  await call(putSettings, { params: { realm }, body: { supportedLocales: ['en', 'de'], defaultLocale: 'de' } });
  await speaks('fr');
  expect(await sms()).toContain('Er gilt 10 Minuten');
  await own('fr', 'À vous : {{code}}');
  expect(await sms()).toBe('À vous : 493817');
});

test('who has named no language gets that of the page on which they asked, and is told of the change in it', async () => {
  await site.sendsMail(realm);
  const person = createPerson(site.server.baseUrl, { 'accept-language': 'nl' });
  await person.fill(await person.open(`/realms/${realm}/login/forgot`), { username: 'ada' });
  const mail = await site.mailTo(`ada@${realm}.example`, 'kies een nieuw wachtwoord');
  expect(mail).toContain('20 minuten');
  const password = 'four dry umbrellas';
  await person.fill(await person.open(linkIn(mail)), { password, repeated: password });
  await site.mailTo(`ada@${realm}.example`, 'uw wachtwoord is gewijzigd');
});
