// A driver sends one message through one kind of gateway: a small record, listed in
// server/features/configuration/messaging/service.ts. contract/message-drivers.ts has the schemas of configurations.
import type { z } from 'zod';
import type { Channel, DriverName } from '../../../contract/message-drivers.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { retryAfterMs } from '../../../http/retry-after.ts';

export interface Provider<Config = unknown> {
  realm: string;
  id: string;
  channel: Channel;
  driver: DriverName;
  fromAddress: string | null;
  fromName: string | null;
  config: Config;
  secret: string | undefined;
}
export interface Outgoing {
  /** Each try of a message has the same id. */
  id: string;
  /** An e-mail address, a phone number, a device's token. */
  to: string;
  subject: string | null;
  body: string;
  html: boolean;
  /** The HTML version of a text mail. */
  alternative?: string | undefined;
  /** A push message's data for the app, which the app doesn't display. */
  data?: Readonly<Record<string, string>> | undefined;
  /** After this time the gateway need not deliver the message. */
  expiresAt: Date;
}
/** The gateway's answer; `words` is its text. */
export type Sent =
  | { ok: true; words: string }
  /** `again`: worth another try, not before `afterSeconds`; `gone`: the address no longer exists. */
  | { ok: false; words: string; again: boolean; gone?: boolean; afterSeconds?: number };

export interface MessageDriver {
  driver: DriverName;
  send(message: Outgoing, provider: Provider): Promise<Sent>;
  close?(): void;
}

/** The time limit for a gateway. */
export const TIMEOUT_MS = 15_000;
export const MAX_ANSWER_BYTES = 16_384;

/**
 * Declares a driver. Its stored configuration is parsed before it sends, and every fault is an answer that is tried
 * again.
 */
export function messageDriver<Config extends z.ZodType>({
  config: schema,
  send,
  ...rest
}: {
  driver: DriverName;
  config: Config;
  send(message: Outgoing, provider: Provider<z.output<Config>>): Promise<Sent>;
  close?(): void;
}): MessageDriver {
  return {
    ...rest,
    async send(message, provider) {
      try {
        return await send(message, { ...provider, config: schema.parse(provider.config) });
      } catch (error) {
        if (error instanceof OutboundError)
          return { ok: false, words: error.message, again: error.fault !== 'bad-url' };
        // The configuration, key or gateway is faulty. The administrator must see the cause, and the message is retried
        // in case of a repair.
        const words = error instanceof Error ? error.message : 'the driver failed';
        return { ok: false, words: `${rest.driver} failed: ${words}`, again: true };
      }
    },
  };
}

const TRY_AGAIN = new Set([408, 425, 429]);
/** The meaning of an HTTP gateway's response. @param retryAfter the header `Retry-After` */
export function sentBy(status: number, words: string, retryAfter: string | null = null): Sent {
  const told = `${status} ${words}`.trim();
  if (status >= 200 && status < 300) return { ok: true, words: told };
  const again = status >= 500 || TRY_AGAIN.has(status);
  return { ok: false, words: told, again, afterSeconds: retryAfterMs(retryAfter) / 1000 };
}

/** Caches tokens of gateways, renewed before they expire, for a few hundred providers. */
export function tokenCache(now: () => Date) {
  const MOST = 500;
  const held = new Map<string, { token: Promise<string>; until: number }>();
  return {
    of(key: string, seconds: number, make: () => Promise<string>): Promise<string> {
      const found = held.get(key);
      if (found && found.until > now().getTime()) return found.token;
      const token = make();
      held.delete(key);
      held.set(key, { token, until: now().getTime() + seconds * 1000 });
      const [oldest] = held.keys();
      if (held.size > MOST && oldest !== undefined) held.delete(oldest);
      token.catch(() => held.delete(key));
      return token;
    },
    forget: (key: string) => void held.delete(key),
  };
}
