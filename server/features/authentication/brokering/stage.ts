// The stage of a sign-in with an identity provider, kept sealed between two requests.
import { z } from 'zod';

const Strings = z.record(z.string(), z.string());
const Lists = z.record(z.string(), z.array(z.string()).readonly()).readonly();
const Tie = z.object({ name: z.string(), holds: z.boolean() });
const Session = z.object({
  sid: z.string().optional(),
  idToken: z.string().optional(),
  nameId: Strings.optional(),
  token: z.object({ value: z.string(), scope: z.string().optional(), expiresAt: z.number().optional() }).optional(),
});
const Arrived = z.object({
  alias: z.string(),
  providerId: z.string(),
  issuer: z.string(),
  subject: z.string(),
  name: z.string().nullable(),
  username: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  firstName: z.string(),
  lastName: z.string(),
  provided: z.object({
    properties: Strings,
    attributes: Lists,
    roles: z.array(Tie).readonly(),
    groups: z.array(Tie).readonly(),
  }),
  session: Session.optional(),
});
const NewPerson = z.object({
  username: z.string(),
  email: z.string(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  attributes: Lists,
});
/** The data of the provider that is applied at each sign-in. */
const Said = Arrived.pick({ alias: true, emailVerified: true, provided: true }).extend({
  /** When the provider sent it, in epoch milliseconds. */
  at: z.int().optional(),
});
/** The account that the user seems to own. */
const Owner = z.object({ id: z.string(), username: z.string() });

export const Stage = z.discriminatedUnion('is', [
  /** The browser is at the provider. */
  z.object({
    is: z.literal('away'),
    alias: z.string(),
    luggage: Strings,
    callback: z.string(),
    anew: z.boolean(),
    at: z.number(),
  }),
  /**
   * A new user completes the profile; `last`, here and below: the code that the user abandoned; `proven`: the address that
   * is proven.
   */
  z.object({
    is: z.literal('review'),
    arrived: Arrived,
    person: NewPerson,
    last: Strings.optional(),
    reviewed: z.boolean().optional(),
    proven: z.string().optional(),
  }),
  /**
   * A new user proves the address; `code`: the values of authenticators/mailed-code.ts; `reviewed`: the user has seen the
   * profile.
   */
  z.object({
    is: z.literal('mail'),
    arrived: Arrived,
    person: NewPerson,
    reviewed: z.boolean().optional(),
    code: Strings,
  }),
  /** The user proves to own an account; `code`: only if a code was mailed. */
  z.object({
    is: z.literal('link'),
    arrived: Arrived,
    owner: Owner,
    code: Strings.optional(),
    last: Strings.optional(),
    /** The possible proofs. */
    password: z.boolean().default(true),
    mail: z.boolean().default(true),
  }),
]);
export type Stage = z.infer<typeof Stage>;

/**
 * The writes at the end of the sign-in: a link was used or is created; `said`: the provider's data, if its sync mode is
 * `always`.
 */
export const Ended = z.union([
  z.object({ link: z.string(), session: Session.optional(), said: Said.optional() }),
  z.object({ connect: Arrived }),
]);
export type Ended = z.infer<typeof Ended>;
