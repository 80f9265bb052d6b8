// The vote of one policy before its logic: whether it matches the requester or the time, and why. Pure. evaluate.ts
// evaluates aggregates, which name other policies.
import { type AuthorizationPolicy, days, type PolicyConfig } from '../../../contract/authorization-services.ts';
import { clientRoleKey } from '../../../resource/items.ts';
import type { Vote } from './vote.ts';

/** The requesting user or client, the time, and the request's context. */
export interface Requester {
  /** The requester in the texts of reasons: `the user ana`. */
  called: string;
  /** Disabled users get no permissions. */
  enabled: boolean;
  username: string | null;
  /** The names in the model by which the user is known: whatever the case and the Unicode form there. */
  names: ReadonlySet<string>;
  /** The groups that the requester is a direct member of, by path. */
  groups: readonly string[];
  /** Roles with composites resolved; client roles by clientId. */
  roles: { realm: readonly string[]; clients: Readonly<Record<string, readonly string[]>> };
  attributes: Readonly<Record<string, readonly string[]>>;
  /** Whether the reader of the decision may not see the user's attribute of this name; absent: they may see all. */
  hides?(attribute: string): boolean;
  clientId: string | null;
  at: Date;
  context: Readonly<Record<string, readonly string[]>>;
}

/** The names that policies use and the realm has. Users come and go: the name of a missing user matches no one. */
export interface ExistingNames {
  roles: ReadonlySet<string>;
  /** Keys in the form of clientRoleKey. */
  clientRoles: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  clients: ReadonlySet<string>;
}

export interface Verdict {
  vote: Vote;
  /** The reason as text, composed only on request. */
  why(): string;
}

const FEW = 5;
/** The most cached clocks: there are some 600 time zones, with all their names. */
const MOST_CLOCKS = 1000;
/** Lists some of many names, for a sentence. */
export const listNames = (names: readonly string[]): string =>
  names.length <= FEW ? names.join(', ') : `${names.slice(0, FEW).join(', ')} and ${names.length - FEW} more`;

const yes = (why: () => string): Verdict => ({ vote: 'permit', why });
const no = (why: () => string): Verdict => ({ vote: 'deny', why });

interface Wanted {
  name: string;
  has: boolean;
  known: boolean;
}

/** The verdict about wanted roles, groups or the like, some of which may not exist. */
function having(wanted: readonly Wanted[], { match = 'any' }: PolicyConfig, what: string): Verdict {
  const named = (list: readonly Wanted[]) => listNames(list.map(({ name }) => name));
  const [having, gone] = [wanted.filter((one) => one.has), wanted.filter((one) => !one.known && !one.has)];
  const lacking = wanted.filter((one) => one.known && !one.has);
  const unclear = (): Verdict => ({
    vote: 'undecided',
    why: () => `names ${what} that the realm doesn’t have: ${named(gone)}`,
  });
  if (match === 'all') {
    if (lacking.length > 0) return no(() => `lacks of ${what}: ${named(lacking)}`);
    return gone.length > 0 ? unclear() : yes(() => `has all of ${what}: ${named(having)}`);
  }
  if (having.length > 0) return yes(() => `has of ${what}: ${named(having)}`);
  return gone.length > 0 ? unclear() : no(() => `has none of ${what}: ${named(lacking)}`);
}

function role(config: PolicyConfig, { roles: own }: Requester, known: ExistingNames): Verdict {
  const { roles = [], clientRoles = {} } = config;
  const wanted = [
    ...roles.map((name) => ({ name, has: own.realm.includes(name), known: known.roles.has(name) })),
    ...Object.entries(clientRoles).flatMap(([clientId, names]) =>
      names.map((name) => ({
        name: `${clientId}/${name}`,
        has: Object.hasOwn(own.clients, clientId) && (own.clients[clientId]?.includes(name) ?? false),
        known: known.clientRoles.has(clientRoleKey(clientId, name)),
      })),
    ),
  ];
  return having(wanted, config, 'the roles');
}

function user({ users = [] }: PolicyConfig, { username, names }: Requester): Verdict {
  if (username === null) return no(() => 'no user asks');
  const same = users.some((name) => names.has(name));
  return same ? yes(() => `is the user ${username}`) : no(() => `is none of the users ${listNames(users)}`);
}

function group(config: PolicyConfig, { groups: own }: Requester, known: ExistingNames): Verdict {
  const { groups = [], includeSubgroups = false } = config;
  const inside = (path: string) =>
    own.some((mine) => mine === path || (includeSubgroups && mine.startsWith(`${path}/`)));
  const wanted = groups.map((name) => ({ name, has: inside(name), known: known.groups.has(name) }));
  return having(wanted, {}, 'the groups');
}

function client({ clients = [] }: PolicyConfig, { clientId }: Requester, known: ExistingNames): Verdict {
  if (clientId === null) return no(() => 'no client asks');
  const wanted = clients.map((name) => ({ name, has: name === clientId, known: known.clients.has(name) }));
  const verdict = having(wanted, {}, 'the clients');
  if (verdict.vote === 'undecided') return verdict;
  return verdict.vote === 'permit'
    ? yes(() => `asks by the client ${clientId}`)
    : no(() => `asks by none of the clients ${listNames(clients)}`);
}

function attribute(config: PolicyConfig, { attributes, context, hides }: Requester): Verdict {
  const { attribute: name = '', source = 'user', values = [], match = 'any' } = config;
  // The decision would tell whether a guessed value is right.
  if (source === 'user' && hides?.(name))
    return { vote: 'undecided', why: () => `the attribute ${name} is hidden from administrators` };
  const all = source === 'user' ? attributes : context;
  const own = new Set(Object.hasOwn(all, name) ? all[name] : []);
  const whose = source === 'user' ? `the attribute ${name}` : `the request’s attribute ${name}`;
  const having = values.filter((value) => own.has(value));
  const enough = match === 'all' ? having.length === values.length : having.length > 0;
  if (enough) return yes(() => `${whose} has ${match === 'all' ? 'all of the values' : 'one of the values'}`);
  return no(() =>
    own.size === 0 ? `${whose} is not there` : `${whose} has ${match === 'all' ? 'not all' : 'none'} of the values`,
  );
}

/** Clocks by time zone: creating one takes as long as hundreds of policies. */
const clocks = new Map<string, Intl.DateTimeFormat>();
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      day: '2-digit',
      month: '2-digit',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  if (clocks.size < MOST_CLOCKS) clocks.set(timeZone, clock);
  return clock;
}

/** The local time in the time zone. */
function clockIn(timeZone: string, at: Date) {
  const parts = clockOf(timeZone).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
  const weekday = days.find((day) => day === part('weekday').toLowerCase());
  const [day, month, time] = [part('day'), part('month'), `${part('hour')}:${part('minute')}`];
  return { weekday, day: Number(day), month: Number(month), time, date: `${part('year')}-${month}-${day}` };
}

function time(config: PolicyConfig, { at }: Requester): Verdict {
  const { notBefore, notAfter, daysOfWeek, daysOfMonth, months, from, until, timeZone = 'UTC' } = config;
  const now = clockIn(timeZone, at);
  const said = () => `it is ${now.weekday}, ${now.date} ${now.time} in ${timeZone}`;
  const over = from !== undefined && until !== undefined && from > until;
  const hours =
    from === undefined ||
    until === undefined ||
    (over ? now.time >= from || now.time < until : now.time >= from && now.time < until);
  const bars = [
    notBefore !== undefined && at.getTime() < Date.parse(notBefore) && `not before ${notBefore}`,
    notAfter !== undefined && at.getTime() > Date.parse(notAfter) && `not after ${notAfter}`,
    daysOfWeek?.length && !(now.weekday && daysOfWeek.includes(now.weekday)) && `only on ${daysOfWeek.join(', ')}`,
    daysOfMonth?.length && !daysOfMonth.includes(now.day) && `only on the days ${daysOfMonth.join(', ')}`,
    months?.length && !months.includes(now.month) && `only in the months ${months.join(', ')}`,
    !hours && `only from ${from} until ${until}`,
  ].filter((bar) => typeof bar === 'string');
  return bars.length === 0 ? yes(said) : no(() => `${said()}: ${bars.join('; ')}`);
}

type Plain = Exclude<AuthorizationPolicy['type'], 'aggregate'>;
export type PlainPolicy = AuthorizationPolicy & { type: Plain };
export const isPlain = (policy: AuthorizationPolicy): policy is PlainPolicy => policy.type !== 'aggregate';

export function verdictOf({ type, config }: PlainPolicy, requester: Requester, known: ExistingNames): Verdict {
  switch (type) {
    case 'role':
      return role(config, requester, known);
    case 'user':
      return user(config, requester);
    case 'group':
      return group(config, requester, known);
    case 'client':
      return client(config, requester, known);
    case 'attribute':
      return attribute(config, requester);
    case 'time':
      return time(config, requester);
  }
}
