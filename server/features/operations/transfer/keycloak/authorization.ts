// Authorization services of Keycloak's clients: protected resources, and the policies that permit their use. Pure.
// docs/keycloak.md.
import { z } from 'zod';
import type {
  AuthorizationServiceDocument,
  DecisionStrategy,
  PolicyConfig,
} from '../../../../contract/authorization-services.ts';
import type { AuthorizationSettings, Client } from './export-shape.ts';
import type { Notes } from './notes.ts';
import type { KnownClient } from './roles.ts';

type Policy = NonNullable<AuthorizationSettings['policies']>[number];
type Config = Readonly<Record<string, string>>;
type Note = (field: string, why: string) => void;
type Translated = { type: 'role' | 'user' | 'group' | 'client' | 'time' | 'aggregate'; config: PolicyConfig } | string;

const strategies: Readonly<Record<string, DecisionStrategy>> = {
  UNANIMOUS: 'unanimous',
  AFFIRMATIVE: 'affirmative',
  CONSENSUS: 'consensus',
};
const enforcements: Readonly<Record<string, 'enforcing' | 'permissive' | 'disabled'>> = {
  ENFORCING: 'enforcing',
  PERMISSIVE: 'permissive',
  DISABLED: 'disabled',
};

/** Parses a list that a config stores as JSON text. */
function listed<S extends z.ZodType>(schema: S, text: string | undefined): z.output<S>[] {
  try {
    return z.array(schema).safeParse(JSON.parse(text ?? '[]')).data ?? [];
  } catch {
    return [];
  }
}
const names = (config: Config, field: string): string[] => listed(z.string(), config[field]);

const RoleOf = z.object({ id: z.string(), required: z.boolean().nullish() });
function rolePolicy(config: Config, known: KnownClient): Translated {
  const all = listed(RoleOf, config.roles);
  if (all.some(({ required }) => required) && !all.every(({ required }) => required))
    return 'of its roles some are required and some are not: all of them, or any of them, is asked for here';
  const roles: string[] = [];
  const clientRoles: Record<string, string[]> = {};
  for (const { id } of all) {
    // `clientId/role`; the name of a realm role may also contain a slash.
    const at = id.indexOf('/');
    const clientId = id.slice(0, Math.max(at, 0));
    if (at > 0 && known(clientId)) clientRoles[clientId] = [...(clientRoles[clientId] ?? []), id.slice(at + 1)];
    else roles.push(id);
  }
  return {
    type: 'role',
    config: {
      ...(roles.length > 0 && { roles }),
      ...(Object.keys(clientRoles).length > 0 && { clientRoles }),
      match: all.some(({ required }) => required) ? 'all' : 'any',
    },
  };
}

const GroupOf = z.object({ path: z.string(), extendChildren: z.boolean().nullish() });
function groupPolicy(config: Config): Translated {
  const all = listed(GroupOf, config.groups);
  if (config.groupsClaim) return 'groups are those of the realm here, not those of a claim';
  const [first] = all;
  if (all.some(({ extendChildren }) => Boolean(extendChildren) !== Boolean(first?.extendChildren)))
    return 'of some of its groups those below count, of others not: it is said of all here';
  return {
    type: 'group',
    config: { groups: all.map(({ path }) => path), includeSubgroups: first?.extendChildren ?? false },
  };
}

/** `2026-01-01 00:00:00`, in the time zone of that server: read as UTC. */
const instant = (text: string): string => `${text.trim().replace(' ', 'T')}Z`;
/** The days or months of a range; undefined: the numbers are out of range. */
function range(config: Config, field: string, most: number): number[] | undefined {
  if (!config[field]) return [];
  const from = Number(config[field]);
  const to = Number(config[`${field}End`] || from);
  if (![from, to].every((one) => Number.isInteger(one) && one >= 1 && one <= most)) return undefined;
  // The range continues beyond the end of the month or year.
  const length = to >= from ? to - from + 1 : most - from + 1 + to;
  return Array.from({ length }, (_, i) => ((from + i - 1) % most) + 1).sort((a, b) => a - b);
}
const two = (n: number): string => String(n).padStart(2, '0');
function timePolicy(config: Config): Translated {
  if (config.year || (config.minute && !config.hour))
    return 'years, and minutes of each hour, are not gone by here: say it by notBefore and notAfter';
  const days = range(config, 'dayMonth', 31);
  const months = range(config, 'month', 12);
  const clock = [config.hour, config.hourEnd, config.minute, config.minuteEnd].every(
    (one) => !one || /^\d\d?$/.test(one),
  );
  if (!days || !months || !clock) return 'there are no such days, months, hours or minutes';
  // Keycloak's ranges include the last hour and minute.
  const last =
    Number(config.hourEnd || config.hour) * 60 + (config.minute ? Number(config.minuteEnd || config.minute) + 1 : 60);
  const until = last >= 24 * 60 ? 0 : last;
  const hours = config.hour && {
    from: `${two(Number(config.hour))}:${two(Number(config.minute || 0))}`,
    until: `${two(Math.floor(until / 60))}:${two(until % 60)}`,
  };
  return {
    type: 'time',
    config: {
      ...(config.nbf && { notBefore: instant(config.nbf) }),
      ...(config.noa && { notAfter: instant(config.noa) }),
      ...(days.length > 0 && { daysOfMonth: days }),
      ...(months.length > 0 && { months }),
      ...(hours && hours.from !== hours.until && hours),
    },
  };
}

function policyOf({ type, config = {}, decisionStrategy }: Policy, known: KnownClient): Translated {
  if (type === 'role') return rolePolicy(config, known);
  if (type === 'group') return groupPolicy(config);
  if (type === 'time') return timePolicy(config);
  if (type === 'user') return { type, config: { users: names(config, 'users') } };
  if (type === 'client') return { type, config: { clients: names(config, 'clients') } };
  if (type === 'aggregate')
    return {
      type,
      config: {
        policies: names(config, 'applyPolicies'),
        decisionStrategy: strategies[decisionStrategy ?? ''] ?? 'unanimous',
      },
    };
  return `there is no policy ${type} here`;
}

const isPermission = ({ type }: Policy): boolean => type === 'resource' || type === 'scope';

/**
 * The note for an object that depends on a dropped policy. Without that policy the object could permit access that it
 * denied.
 */
const goesBy = (gone: readonly string[]): string => `goes by ${gone.join(', ')}, which isn’t carried over`;

export function authorizationOf(
  { clientId: key, authorizationSettings }: Client,
  { known, notes }: { known: KnownClient; notes: Notes },
): AuthorizationServiceDocument | undefined {
  if (!authorizationSettings) return undefined;
  const { resources = [], scopes = [], policies: all = [] } = authorizationSettings;
  const note: Note = (field, why) => notes.add({ kind: 'client', key, field: `authorizationSettings.${field}` }, why);
  const gone = new Set<string>();
  const leave = (name: string, why: string) => {
    gone.add(name);
    note(name, why);
  };
  const policies = all
    .filter((policy) => !isPermission(policy))
    .flatMap((policy) => {
      const translated = policyOf(policy, known);
      if (typeof translated === 'string') {
        leave(policy.name, translated);
        return [];
      }
      if (translated.type === 'time' && (translated.config.notBefore || translated.config.from))
        note(policy.name, 'its times are taken to be UTC: set timeZone');
      return {
        name: policy.name,
        logic: policy.logic === 'NEGATIVE' ? ('negative' as const) : ('positive' as const),
        ...translated,
      };
    });
  // An aggregate may precede the policies that it combines.
  const aggregates = policies.flatMap(({ name, config }) => (config.policies ?? []).map((by) => ({ name, by })));
  const goingBy = Map.groupBy(aggregates, ({ by }) => by);
  // `gone` grows during the loop, which also reaches the added policies.
  for (const left of gone)
    for (const { name } of goingBy.get(left) ?? []) if (!gone.has(name)) leave(name, goesBy([left]));
  const permissions = all.filter(isPermission).flatMap(({ name, decisionStrategy, config = {}, type }) => {
    const by = names(config, 'applyPolicies');
    const lacking = by.filter((policy) => gone.has(policy));
    // Without one of its policies it could permit more; without any policy it denies.
    if (lacking.length > 0) note(name, `${goesBy(lacking)}: it denies until a policy decides`);
    return {
      name,
      resources: names(config, 'resources'),
      ...(config.defaultResourceType && { resourceType: config.defaultResourceType }),
      scopes: type === 'scope' ? names(config, 'scopes') : [],
      policies: lacking.length > 0 ? [] : by,
      decisionStrategy: strategies[decisionStrategy ?? ''] ?? null,
    };
  });
  return {
    clientId: key,
    settings: {
      enforcement: enforcements[authorizationSettings.policyEnforcementMode ?? ''] ?? 'enforcing',
      decisionStrategy: strategies[authorizationSettings.decisionStrategy ?? ''] ?? 'unanimous',
      remoteResources: authorizationSettings.allowRemoteResourceManagement ?? false,
    },
    scopes: scopes.map(({ name, displayName }) => ({ name, ...(displayName && { displayName }) })),
    resources: resources.map(
      ({ name, displayName, type, uris = [], scopes: its = [], owner, ownerManagedAccess, attributes }) => ({
        name,
        ...(displayName && { displayName }),
        ...(type && { type }),
        uris,
        scopes: its.map((scope) => scope.name),
        ...(owner?.name && { owner: owner.name }),
        ...(ownerManagedAccess && { ownerManaged: true }),
        attributes: attributes ?? {},
      }),
    ),
    policies: policies.filter(({ name }) => !gone.has(name)),
    permissions,
  };
}
