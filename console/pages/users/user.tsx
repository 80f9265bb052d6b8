// A user on a page of its own: the profile, how they sign in and why they can't, what they may do, what they have going on.
import { lazy } from 'react';
import { useRead } from '../../api/queries.ts';
import { type May, useMay } from '../../api/session.ts';
import { getLockout, getUser } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Page } from '../../ui/page.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { type Tab, Tabs } from '../../ui/tabs.tsx';
import type { PageProps } from '../page.ts';
import { userAddress, usersAddress } from './addresses.ts';
import { Profile } from './profile.tsx';
import { UserActions } from './user-actions.tsx';
import { count, fullName, type User } from './words.ts';

const SignInWays = lazy(() => import('./ways.tsx'));
const Report = lazy(() => import('./report.tsx'));
const Access = lazy(() => import('./access.tsx'));
const Sessions = lazy(() => import('./sessions.tsx'));
const Consents = lazy(() => import('./consents.tsx'));
const Organizations = lazy(() => import('./organizations.tsx'));
const Agents = lazy(() => import('./agents.tsx'));
const Activity = lazy(() => import('./activity.tsx'));
const PersonalData = lazy(() => import('./personal-data.tsx'));

export interface UserTab {
  realm: string;
  user: User;
  etag: string | undefined;
}

/** The tabs that the reader's permissions fill; some of them need a permission over the whole realm. */
function tabsOf(may: May, of: UserTab): Tab[] {
  const { realm, user, etag } = of;
  const all: [shown: boolean, tab: Tab][] = [
    [
      true,
      {
        id: 'profile',
        label: 'Profile',
        content: () => (
          <Profile realm={realm} read={{ body: user, etag, status: 200, nextCursor: undefined, total: undefined }} />
        ),
      },
    ],
    [true, { id: 'ways', label: 'Ways to sign in', content: () => <SignInWays {...of} /> }],
    [true, { id: 'report', label: 'Sign-in report', content: () => <Report {...of} /> }],
    [true, { id: 'access', label: 'Groups and roles', content: () => <Access {...of} /> }],
    [may.partly(realm, 'sessions:read'), { id: 'sessions', label: 'Sessions', content: () => <Sessions {...of} /> }],
    [may(realm, 'users:read'), { id: 'consents', label: 'Consents', content: () => <Consents {...of} /> }],
    [
      may(realm, 'organizations:read'),
      { id: 'organizations', label: 'Organizations', content: () => <Organizations {...of} /> },
    ],
    [may(realm, 'agents:read'), { id: 'agents', label: 'Agents', content: () => <Agents {...of} /> }],
    [may(realm, 'events:read'), { id: 'activity', label: 'Activity', content: () => <Activity {...of} /> }],
    [may(realm, 'users:read'), { id: 'data', label: 'Personal data', content: () => <PersonalData {...of} /> }],
  ];
  return all.filter(([shown]) => shown).map(([, tab]) => tab);
}

export default function UserPage({ params: { realm, userId = '' } }: PageProps) {
  const may = useMay();
  const params = { realm, userId };
  const read = useRead(getUser, { params });
  const lock = useRead(getLockout, { params });
  const user = read.data?.body;
  return (
    <Page
      title={user?.username ?? '…'}
      documentTitle={user ? `${user.username} – Users – ${realm}` : 'User'}
      {...(user && { lead: <Lead user={user} /> })}
      badges={
        user && (
          <>
            {user.enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">disabled</Badge>}
            {lock.data?.body?.locked && <Badge tone="bad">locked</Badge>}
            {user.requiredActions.length > 0 && (
              <Badge tone="info">{count(user.requiredActions.length, 'required action')}</Badge>
            )}
          </>
        )
      }
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: 'Users', to: usersAddress(realm) },
      ]}
      actions={
        user && (
          <>
            <AsCommand
              commands={() => ({
                realmctl: realmctl('get users', [user.username], `-r ${word(realm)}`, '-o yaml'),
                curl: curlOf(getUser, params),
              })}
            />
            <UserActions realm={realm} user={user} etag={read.data?.etag} isLocked={lock.data?.body?.locked === true} />
          </>
        )
      }
    >
      {read.error && <ProblemNote problem={read.error} retry={() => void read.refetch()} />}
      {user ? (
        <Tabs
          key={userAddress(realm, userId)}
          label={`About ${user.username}`}
          tabs={tabsOf(may, { realm, user, etag: read.data?.etag })}
        />
      ) : (
        !read.error && <Loading lines={8} />
      )}
    </Page>
  );
}

function Lead({ user }: { user: User }) {
  const said = [fullName(user), user.email].filter((text) => text !== null && text !== '');
  if (said.length === 0) return null;
  return (
    <>
      {said.map((text, at) => (
        <span key={text}>
          {at > 0 && ' · '}
          <bdi>{text}</bdi>
        </span>
      ))}
    </>
  );
}
