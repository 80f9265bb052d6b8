// The configuration of a flow's conditions, by authenticator id. Specification 2.2; decisions "Names".
import { z } from 'zod';
import { name } from './names.ts';

const MAX_NAMES = 100;
const HIGHEST_LEVEL = 10;
const names = z.array(name(255)).min(1).max(MAX_NAMES);
const negate = z.boolean().optional().describe('It holds where it otherwise wouldn’t');

const Network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'must be an address or a network as 192.0.2.0/24 or 2001:db8::/32',
});

export const RoleConfig = z.strictObject({
  roles: names.describe('Holds for who has one of these, directly, by a group or within another role'),
  clientId: name(255).optional().describe('The client whose roles they are; left out: the realm’s'),
  negate,
});
export const GroupConfig = z.strictObject({
  groups: names.describe('Paths; holds for who is in one of these, or in one below'),
  negate,
});
export const AttributeConfig = z.strictObject({
  attribute: name(255),
  values: names.optional().describe('Holds for who has one of these; left out: for who has any'),
  negate,
});
export const ClientConfig = z.strictObject({
  clients: names.describe('Client ids; holds where one of these asked for the sign-in. The account page is none'),
  negate,
});
export const NetworkConfig = z.strictObject({
  networks: z.array(Network).min(1).max(MAX_NAMES).describe('Holds where the browser comes from one of these'),
  negate,
});
export const DeviceKnownConfig = z.strictObject({ negate });
export const LevelConfig = z.strictObject({
  negate,
  minimumLevel: z
    .int()
    .min(1)
    .max(HIGHEST_LEVEL)
    .describe('Holds where this level of assurance, or a higher one, is asked for'),
});
