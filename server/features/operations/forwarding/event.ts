// A forwarded event, and the formats in which it can be sent. Specification 6.1.
import { createHash } from 'node:crypto';
import type { Event } from '../../../contract/events.ts';
import { ecs } from './ecs.ts';
import { ocsf } from './ocsf.ts';

export interface Forwarded extends Event {
  /** The block of the chain that it is sealed in; null: its realm is deleted. */
  block: { number: number; hash: string } | null;
}

/** The receiver of events. A batch that it doesn't confirm is sent again whole. */
export interface Receiver {
  /** @throws NotTaken, Refused, OutboundError */
  send(events: readonly Forwarded[]): Promise<void>;
}

/** The receiver answered that it doesn't accept the events, at least at present. */
export class NotTaken extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The receiver rejects the batch itself: too many events, or their content; sending it again would not help. */
export class Refused extends NotTaken {}

/** The event without its data. Their SHA-256 digest and size remain. */
export const withoutEventData = ({ data, ...event }: Forwarded): Forwarded => {
  const text = JSON.stringify(data);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { ...event, data: { cut: { bytes: Buffer.byteLength(text), sha256 } } };
};

export const shapes = { ecs, ocsf, event: (event: Forwarded): object => event } as const;
export type Shape = keyof typeof shapes;
