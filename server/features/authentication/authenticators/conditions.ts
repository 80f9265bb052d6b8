// The conditions of flows: about the user, the browser, the client and the risk. features/authentication/risk computes the
// risk.
import { z } from 'zod';
import * as config from '../../../contract/flow-conditions.ts';
import { isInside } from '../../../http/network.ts';
import type { Condition, ConditionFacts } from './authenticator.ts';

const NoConfig = z.strictObject({});

export const mfaEnabled: Condition = {
  id: 'mfa-enabled',
  displayName: 'User has MFA enabled',
  factorClass: 'NONE',
  levelOfAssurance: 0,
  category: 'CONDITION',
  identifies: false,
  configSchema: NoConfig,
  holds: ({ secondFactor }) => secondFactor,
};

const BANDS = ['low', 'medium', 'high'] as const;
const RiskConfig = z.strictObject({
  minimumBand: z
    .enum(BANDS)
    .optional()
    .describe('Holds from this band up; left out: where the band’s action is step_up'),
});

export const riskCondition: Condition = {
  id: 'risk',
  displayName: 'Adaptive risk condition',
  factorClass: 'NONE',
  levelOfAssurance: 0,
  category: 'CONDITION',
  identifies: false,
  configSchema: RiskConfig,
  // A suspicious user must not pass with a factor set up in this very sign-in.
  forbidsEnrolment: true,
  holds({ riskAction, riskBand }, config) {
    const { minimumBand } = RiskConfig.parse(config);
    if (minimumBand === undefined) return riskAction === 'step_up';
    return riskBand !== undefined && BANDS.indexOf(riskBand) >= BANDS.indexOf(minimumBand);
  },
};

interface Negatable {
  negate?: boolean | undefined;
}
/** @param looks undefined: the facts are unknown, and the condition doesn't hold, negated or not */
function condition<C extends Negatable>(
  entry: Pick<Condition, 'id' | 'displayName' | 'needs'>,
  schema: z.ZodType<C>,
  looks: (facts: ConditionFacts, config: C) => boolean | undefined,
): Condition {
  return {
    factorClass: 'NONE',
    levelOfAssurance: 0,
    category: 'CONDITION',
    identifies: false,
    ...entry,
    configSchema: schema,
    holds(facts, given) {
      const read = schema.parse(given);
      const found = looks(facts, read);
      return found !== undefined && found !== (read.negate ?? false);
    },
  };
}
const some = (wanted: readonly string[], held: readonly string[] | undefined): boolean =>
  wanted.some((one) => held?.includes(one));
const own = <T>(all: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined;

export const conditions: readonly Condition[] = [
  condition(
    { id: 'role', displayName: 'User has a role', needs: 'person' },
    config.RoleConfig,
    ({ person }, { roles, clientId }) =>
      person && some(roles, clientId === undefined ? person.roles.realm : own(person.roles.clients, clientId)),
  ),
  condition(
    { id: 'group', displayName: 'User is in a group', needs: 'person' },
    config.GroupConfig,
    ({ person }, { groups }) =>
      person && groups.some((group) => person.groups.some((path) => path === group || path.startsWith(`${group}/`))),
  ),
  condition(
    { id: 'attribute', displayName: 'User has an attribute', needs: 'person' },
    config.AttributeConfig,
    ({ person }, { attribute, values }) => {
      const held = person && (own(person.attributes, attribute) ?? []);
      return held && (values ? some(values, held) : held.length > 0);
    },
  ),
  condition(
    { id: 'client', displayName: 'Sign-in is for a client' },
    config.ClientConfig,
    ({ clientId }, { clients }) => clientId !== undefined && clients.includes(clientId),
  ),
  condition(
    { id: 'network', displayName: 'Browser is in a network' },
    config.NetworkConfig,
    ({ browser }, { networks }) => browser && isInside(browser.address, networks),
  ),
  condition(
    { id: 'device-known', displayName: 'Browser is known to be the user’s', needs: 'device' },
    config.DeviceKnownConfig,
    ({ browser }) => browser && (browser.known ?? false),
  ),
  condition(
    { id: 'level-of-assurance', displayName: 'A level of assurance is asked for' },
    config.LevelConfig,
    ({ requiredLevel }, { minimumLevel }) => requiredLevel >= minimumLevel,
  ),
];
