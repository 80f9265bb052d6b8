// Sends through a realm's providers: chooses the provider and its driver, and cleans the gateway's texts for users to
// read.

import type { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { Channel, DriverName } from '../../../contract/message-drivers.ts';
import type { TemplateKey } from '../../../contract/message-keys.ts';
import type { testMessagingProvider } from '../../../contract/messages.ts';
import { Problem } from '../../../contract/problem.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import { escapeHtml } from '../../../http/html.ts';
import type { MessageDriver, Outgoing, Provider, Sent } from './driver.ts';
import { providerSecret } from './providers.ts';
import { deviceOf } from './push-tokens.ts';
import * as store from './store.ts';

const MAX_WORDS = 300;
const FEW_CHARACTERS = 4;
const TEST_SECONDS = 600;

/** The gateway's text: bounded, one line, and without secrets that it may have repeated. */
function wordsFor(words: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter((secret) => secret.length >= FEW_CHARACTERS)
    .flatMap((secret) => [secret, escapeHtml(secret)])
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '***'), words);
  return hidden
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_WORDS);
}

export interface GatewaysDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  drivers: readonly MessageDriver[];
  tests: Pick<RateLimit, 'take'>;
  now: () => Date;
  newId: () => string;
}

export function createGateways({ sql, transact, seal, drivers, tests, now, newId }: GatewaysDeps) {
  const byName = new Map(drivers.map((driver) => [driver.driver, driver]));
  const secret = providerSecret(seal);

  const opened = (realm: string, row: store.ProviderRow): Provider => ({
    ...row,
    realm,
    secret: row.secret ? secret.open(row.secret, { realm, id: row.id }) : undefined,
  });
  async function enabled(realm: string, channel: Channel, driver: DriverName | undefined): Promise<Provider[]> {
    const rows = await store.enabledProviders(sql, realm, channel);
    return rows.filter((row) => driver === undefined || row.driver === driver).map((row) => opened(realm, row));
  }
  /** The provider for a test message. A test may name one, even a disabled one. */
  async function tried(realm: string, channel: Channel, driver: DriverName | undefined): Promise<Provider | undefined> {
    if (driver === undefined) return (await enabled(realm, channel, undefined))[0];
    const row = await store.provider(sql, realm, { channel, driver });
    return row && opened(realm, row);
  }
  async function through(provider: Provider, message: Outgoing, secrets: readonly string[]): Promise<Sent> {
    const sent = await byName.get(provider.driver)?.send(message, provider);
    if (!sent) return { ok: false, words: `there is no driver ${provider.driver}`, again: false };
    return { ...sent, words: wordsFor(sent.words, [...secrets, provider.secret ?? '', message.to]) };
  }

  return {
    /** Retries use the enabled providers in turn. */
    async send(
      realm: string,
      message: Outgoing,
      {
        channel,
        driver,
        attempt,
        secrets,
      }: { channel: Channel; driver: DriverName | undefined; attempt: number; secrets: readonly string[] },
    ): Promise<Sent> {
      const providers = await enabled(realm, channel, driver);
      const provider = providers[(attempt - 1) % providers.length];
      if (!provider) return { ok: false, words: `no provider of ${channel} is enabled`, again: true };
      return through(provider, message, secrets);
    },

    /**
     * Sends a test message at once, and stores nothing of it but an audit event, which does not name the recipient.
     * @throws Problem `not-found`, `too-many-requests`
     */
    async test(
      by: By,
      realm: string,
      channel: Channel,
      { to, driver }: z.output<typeof testMessagingProvider.body>,
      /** undefined: a fixed text. */
      text?: Pick<Outgoing, 'subject' | 'body' | 'html' | 'alternative'> & { templateKey: TemplateKey },
    ): Promise<z.input<typeof testMessagingProvider.response>> {
      const device = channel === 'PUSH' && isUuid(to) ? await deviceOf(sql, seal, realm, to) : undefined;
      const provider = await tried(realm, channel, driver ?? device?.platform);
      if (!provider)
        throw new Problem(
          'not-found',
          driver === undefined ? `No provider of ${channel} is enabled` : `There is no provider ${channel}/${driver}`,
        );
      const retryAfterSeconds = tests.take(realm);
      if (retryAfterSeconds !== undefined)
        throw new Problem('too-many-requests', 'Too many tests within a minute', { retryAfterSeconds });
      const subject = channel === 'SMS' ? null : `Test of ${realm}`;
      const body = `This is a test message of the realm ${realm}.`;
      const expiresAt = new Date(now().getTime() + TEST_SECONDS * 1000);
      const { templateKey, ...own } = text ?? {};
      const message = { id: newId(), to: device?.token ?? to, subject, body, html: false, ...own, expiresAt };
      const { ok, words } = await through(provider, message, []);
      const { driver: used } = provider;
      await transact(realm, async (tx) =>
        tx.record({
          type: 'MESSAGE_TESTED',
          realm,
          by,
          subject: { type: 'object', id: null, name: `${channel}/${used}` },
          outcome: ok ? 'success' : 'failure',
          data: { channel, driver: used, ...(templateKey !== undefined && { templateKey }) },
        }),
      );
      return { delivered: ok, driver: used, answer: words };
    },
    close() {
      for (const driver of drivers) driver.close?.();
    },
  };
}
export type Gateways = ReturnType<typeof createGateways>;
