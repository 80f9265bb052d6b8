// Where somebody stands who comes by an identity provider, as a sign-in keeps it sealed between two requests.
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
/** What counts of it at each sign-in. */
const Said = Arrived.pick({ alias: true, emailVerified: true, provided: true }).extend({
  /** Milliseconds: when it was said. */
  at: z.int().optional(),
});
/** Whose account it seems to be. */
const Owner = z.object({ id: z.string(), username: z.string() });

export const Stage = z.discriminatedUnion('is', [
  /** At the provider. */
  z.object({
    is: z.literal('away'),
    alias: z.string(),
    luggage: Strings,
    callback: z.string(),
    anew: z.boolean(),
    at: z.number(),
  }),
  /** New here: to say what is lacking; `last`, here and below: the code that they turned away from; `proven`: the address that is theirs. */
  z.object({
    is: z.literal('review'),
    arrived: Arrived,
    person: NewPerson,
    last: Strings.optional(),
    reviewed: z.boolean().optional(),
    proven: z.string().optional(),
  }),
  /** New here: to prove the address; `code` as mailed codes keep it; `reviewed`: they have seen what they are to be. */
  z.object({
    is: z.literal('mail'),
    arrived: Arrived,
    person: NewPerson,
    reviewed: z.boolean().optional(),
    code: Strings,
  }),
  /** To prove that the account is theirs; `code` where that goes by mail. */
  z.object({
    is: z.literal('link'),
    arrived: Arrived,
    owner: Owner,
    code: Strings.optional(),
    last: Strings.optional(),
    /** By which proofs. */
    password: z.boolean().default(true),
    mail: z.boolean().default(true),
  }),
]);
export type Stage = z.infer<typeof Stage>;

/** What is written when the sign-in ends: a link was used, or is made; `said`: of the person, where their provider is followed. */
export const Ended = z.union([
  z.object({ link: z.string(), session: Session.optional(), said: Said.optional() }),
  z.object({ connect: Arrived }),
]);
export type Ended = z.infer<typeof Ended>;
