// Owns: a server beside an identity provider, a realm that has it, and the way of a person over it, by hand: to the provider, back, and on.
// Does not own: the provider (upstream.ts), the person (person.ts).

import type { z } from 'zod';
import { createIdentityProvider, type IdentityProviderInput } from '../../server/contract/identity-providers.ts';
import { startMailingServer } from './mail.ts';
import { createPerson, type Person, type ShownPage } from './person.ts';
import type { TestServer } from './server.ts';
import { startUpstream, type Upstream } from './upstream.ts';

type Input = z.input<typeof IdentityProviderInput>;

/** An identity provider and a server that trusts its certificate. @param now the server's clock */
export async function startBrokered({ now, env = {} }: { now?: () => Date; env?: Record<string, string> } = {}) {
  const upstream = await startUpstream();
  const mailing = await startMailingServer({ env, caFiles: [upstream.caFile], ...(now && { now }) });
  let begun = 0;
  return {
    upstream,
    mailing,
    server: mailing.server,
    /** The name of a realm for the next test, which finds nothing of the last one's mails and of what the provider said. */
    another(prefix: string): string {
      mailing.mails.length = 0;
      upstream.reset();
      begun += 1;
      return `${prefix}${begun}`;
    },
    async stop(): Promise<void> {
      await mailing.stop();
      await upstream.stop();
    },
  };
}
export type Brokered = Awaited<ReturnType<typeof startBrokered>>;

export const makeProvider = async (server: TestServer, realm: string, body: Input): Promise<string> =>
  (await server.admin.call(createIdentityProvider, { params: { realm }, body })).body?.id ?? '';

/** An OpenID provider as tests' upstream is one. */
export const oidcOf = (upstream: Upstream, more: Partial<Input> = {}): Input => ({
  alias: 'corp',
  type: 'oidc',
  displayName: 'Corp',
  clientId: 'realm',
  secret: 'the secret there',
  scopes: ['openid', 'email', 'profile'],
  config: { issuer: upstream.url },
  ...more,
});

/** The address of the page's way to a provider. */
export const wayIn = ({ text }: ShownPage, alias = 'corp'): string =>
  new RegExp(`href="([^"]*/login/provider/${alias}[^"]*)"`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';

/** Where the person is sent who presses the provider's button on the page. */
export async function sentTo(person: Person, page: ShownPage, alias = 'corp'): Promise<string> {
  const left = await person.open(wayIn(page, alias));
  return left.url;
}

/** A user opens the realm's sign-in and comes back from the provider. */
export async function comeBy(
  server: TestServer,
  realm: string,
  upstream: Upstream,
  {
    person = createPerson(server.baseUrl),
    parameters = {},
    path = `/realms/${realm}/login?for=account`,
  }: {
    person?: Person;
    parameters?: Record<string, string>;
    path?: string;
  } = {},
): Promise<{ person: Person; page: ShownPage; back: string }> {
  const url = await sentTo(person, await person.open(path));
  const back = upstream.answer(url, parameters);
  const { pathname, search } = new URL(back);
  return { person, page: await person.open(`${pathname}${search}`), back: `${pathname}${search}` };
}
