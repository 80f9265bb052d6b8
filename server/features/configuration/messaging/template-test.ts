// Sends a stored template as a test message. All values are the server's own samples, so that an administrator who may
// only try gateways can't have the realm send a text of their choice. Specification 4.4.
import type { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { messages } from '../../../contract/message-keys.ts';
import type { testMessageTemplate } from '../../../contract/messages.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { SettingsService } from '../settings/service.ts';
import type { Gateways } from './gateways.ts';
import { render } from './render.ts';
import { alternativeOf } from './send.ts';
import type { Texts } from './texts.ts';
import { momentIn, spanIn } from './words.ts';

const CODE_SECONDS = 300;

/** A sample for each placeholder of contract/message-keys.ts. */
const samplesIn = (
  locale: string,
  { account, now }: { account: string; now: Date },
): Readonly<Record<string, string>> => ({
  user: 'Ada',
  'user.username': 'ada',
  'user.firstName': 'Ada',
  'user.lastName': 'Lovelace',
  'user.email': 'ada@example.com',
  code: '123456',
  ttl: spanIn(locale, CODE_SECONDS),
  time: momentIn(locale, now),
  link: account,
  organization: 'Acme',
  inviter: 'Grace Hopper',
  device: 'Firefox, Linux',
  place: 'Berlin',
  change: 'Test',
  agent: 'agent',
  requester: 'Grace Hopper',
  resource: 'Test',
  client: 'Test',
});

export const createTemplateTest =
  ({
    sql,
    texts,
    settings,
    gateways,
    baseUrl,
    now,
  }: {
    sql: Sql;
    texts: Texts;
    settings: Pick<SettingsService, 'of'>;
    gateways: Pick<Gateways, 'test'>;
    baseUrl: string;
    now: () => Date;
  }) =>
  async (
    by: By,
    realm: string,
    { templateKey, locale: wanted, ...to }: z.output<typeof testMessageTemplate.body>,
  ): Promise<z.input<typeof testMessageTemplate.response>> => {
    const { channel } = messages[templateKey];
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', 'There is no such realm');
    const { realmName, ...text } = await texts.of(sql, realm, templateKey, wanted === undefined ? [] : [wanted]);
    const { locale } = text;
    const values = samplesIn(locale, { account: `${baseUrl}/realms/${realm}/account`, now: now() });
    const rendered = await render(text, new Map([['realm', realmName], ...Object.entries(values)]));
    const alternative =
      channel === 'EMAIL' ? alternativeOf({ rendered, locale }, { templateKey, values }, policy) : undefined;
    return { ...(await gateways.test(by, realm, channel, to, { ...rendered, alternative, templateKey })), locale };
  };
