// The first steps of a fresh installation. What the server can tell is ticked by itself; the rest the administrator ticks, in
// this browser.
import { useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { openOwnAccount } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useRealms } from '../../api/realms.ts';
import { MASTER, useSession } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { allCommands, curlOf, requestCommands } from '../../kinds/commands.ts';
import { word } from '../../kinds/shell-words.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand, type Commands } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/state.tsx';

const TICKED = 'realmkeeper.first-steps';
const MINUTE_MS = 60_000;
const listeners = new Set<() => void>();
const ticked = (): string => localStorage.getItem(TICKED) ?? '';
const toggle = (step: string) => {
  const before = new Set(ticked().split(',').filter(Boolean));
  if (!before.delete(step)) before.add(step);
  localStorage.setItem(TICKED, [...before].join(','));
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

interface Step {
  id: string;
  title: string;
  help: string;
  /** undefined: the server can't tell, so the administrator ticks it. */
  ready: boolean | undefined;
  /** The requests whose answers tell it. */
  asks?: Commands;
  link?: { words: string; to?: string; onPress?: () => void };
}

/** Those of every new installation. */
const OWN_CLIENTS = new Set(['realmctl', 'operator']);

function useSteps(): { steps: Step[]; failed: { error: unknown; refetch: () => unknown } | undefined } {
  const { type, id, realm: home } = useSession();
  const isUser = type === 'user';
  const credentials = useRead(api.listCredentials, { params: { realm: home, userId: id } }, { enabled: isUser });
  const self = useRead(api.getUser, { params: { realm: home, userId: id } }, { enabled: isUser });
  const master = useRead(api.getRealm, { params: { realm: MASTER } });
  const mail = useRead(api.listMessagingProviders, { params: { realm: MASTER } });
  const realms = useRealms();
  const first = realms.data?.body?.find(({ realm }) => realm !== MASTER)?.realm;
  const clients = useRead(
    api.listClients,
    { params: { realm: first ?? MASTER }, query: { limit: 20 } },
    { enabled: first !== undefined },
  );
  const users = useRead(
    api.listUsers,
    { params: { realm: first ?? MASTER }, query: { limit: 1 } },
    { enabled: first !== undefined },
  );
  const password = credentials.data?.body?.find(({ type: of }) => of === 'password');
  // the first start makes the account and its password at once
  const isOwnPassword = (password?.createdAt ?? 0) - (self.data?.body?.createdAt ?? Infinity) > MINUTE_MS;
  const hasSecond = (credentials.data?.body ?? []).some(({ type: of }) => ['otp', 'webauthn'].includes(of));
  const { protocol, hostname, origin } = location;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const address = master.data?.body?.issuer.startsWith(origin) === true && (protocol === 'https:' || isLocal);
  const account = { words: 'Account page', onPress: () => void openOwnAccount('security') };
  const failed = [credentials, self, master, mail, realms, clients, users].find(({ error }) => error !== null);
  const inFirst = (...parts: string[]) => (first === undefined ? '/realms/new' : inRealm(first, ...parts));
  const steps: Step[] = [
    {
      id: 'password',
      title: 'Set a password of your own',
      help: 'The first start printed one, which is in a terminal or a log. A new one ends your other sessions: sign in here again afterwards.',
      ready: isOwnPassword || undefined,
      link: account,
    },
    {
      id: 'second-factor',
      title: 'Set up a second factor',
      help: 'A passkey, or a code of an authenticator app: whoever has your password alone stays outside.',
      ready: hasSecond,
      ...(isUser && { asks: requestCommands(api.listCredentials, { realm: home, userId: id }) }),
      link: account,
    },
    {
      id: 'address',
      title: 'Check the base address',
      help: `Tokens and mails name ${master.data?.body?.issuer ?? 'it'}. Behind a proxy, set SVC_BASE_URL to the address that people use, with https.`,
      ready: address,
      asks: { realmctl: `realmctl get realm ${MASTER} -o yaml`, curl: curlOf(api.getRealm, { realm: MASTER }) },
    },
    {
      id: 'mail',
      title: 'Set up mail',
      help: 'Without it nobody gets a link for a forgotten password.',
      ready: (mail.data?.body ?? []).some(({ channel, enabled }) => channel === 'EMAIL' && enabled),
      asks: {
        realmctl: `realmctl get messaging-providers -r ${MASTER}`,
        curl: curlOf(api.listMessagingProviders, { realm: MASTER }),
      },
      link: { words: 'Set up', to: inRealm(MASTER, 'set-up', 'messages') },
    },
    {
      id: 'master-key',
      title: 'Keep the master key elsewhere too',
      help: 'Secrets in the database are encrypted with it. A backup of the database is worth nothing without it.',
      ready: undefined,
    },
    {
      id: 'realm',
      title: 'Create the first realm',
      help: 'The realm master is for administrators. Your users and applications get a realm of their own.',
      ready: first !== undefined,
      asks: { realmctl: 'realmctl get realms', curl: curlOf(api.listRealms, {}) },
      link: { words: 'Create', to: '/realms/new' },
    },
    {
      id: 'application',
      title: 'Add the first application',
      help: 'A client is an application that signs people in, or a service that gets tokens for itself.',
      ready: (clients.data?.body ?? []).some(({ clientId }) => !OWN_CLIENTS.has(clientId)),
      ...(first !== undefined && {
        asks: { realmctl: `realmctl get clients -r ${word(first)}`, curl: curlOf(api.listClients, { realm: first }) },
      }),
      link: { words: 'Add', to: inFirst('set-up', 'application') },
    },
    {
      id: 'user',
      title: 'Add the first user',
      help: 'Or let people register, or connect an identity provider or an LDAP directory.',
      ready: (users.data?.body ?? []).length > 0,
      ...(first !== undefined && {
        asks: { realmctl: `realmctl get users -r ${word(first)}`, curl: curlOf(api.listUsers, { realm: first }) },
      }),
      link: { words: 'Users', to: inFirst('users') },
    },
  ];
  return { steps, failed };
}

/** Each request below the name of its step. */
const commandsOf = (steps: readonly Step[]): Commands =>
  allCommands(
    steps.flatMap(({ title, asks }) =>
      asks ? [{ realmctl: `# ${title}\n${asks.realmctl}`, curl: `# ${title}\n${asks.curl}` }] : [],
    ),
  );

export default function FirstSteps() {
  const { steps, failed } = useSteps();
  const own = new Set(useSyncExternalStore(subscribe, ticked).split(','));
  const isReady = ({ id, ready }: Step) => ready ?? own.has(id);
  const count = steps.filter(isReady).length;
  return (
    <Page
      title="First steps"
      lead="What a new installation needs before people sign in."
      narrow
      badges={<Badge {...(count === steps.length && { tone: 'good' as const })}>{`${count} of ${steps.length}`}</Badge>}
      actions={<AsCommand commands={() => commandsOf(steps)} />}
    >
      {failed && <ProblemNote problem={failed.error} retry={() => void failed.refetch()} />}
      <Panel plain>
        <ol className="steps">
          {steps.map((step) => {
            const ready = isReady(step);
            return (
              <li key={step.id} className={ready ? 'step ready' : 'step'}>
                <span className="tick">{ready && <Icon name="check" size={12} />}</span>
                <div>
                  <h2>
                    {step.title}
                    <span className="visually-hidden">{ready ? ' (ready)' : ' (open)'}</span>
                  </h2>
                  <p>{step.help}</p>
                </div>
                <div className="row">
                  {step.ready === undefined && (
                    <Button small variant="quiet" onPress={() => toggle(step.id)}>
                      {ready ? 'Not yet' : 'I did this'}
                    </Button>
                  )}
                  {!ready && step.link?.to !== undefined && (
                    <Link href={step.link.to} className="button small">
                      {step.link.words}
                    </Link>
                  )}
                  {!ready && step.link?.onPress && (
                    <Button small onPress={step.link.onPress} aria-label={`${step.link.words}: ${step.title}`}>
                      {step.link.words}
                    </Button>
                  )}
                </div>
              </li>
            );
          })}
        </ol>
      </Panel>
    </Page>
  );
}
