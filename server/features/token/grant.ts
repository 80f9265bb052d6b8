// A grant of the token endpoint: the extension idiom of design "Extension is an array of small records".
// The endpoint (service.ts) owns the phases: client → grant allowed → resources → scopes → grant → answer.
import type { By, DomainEvent } from '../../contract/events.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Tx } from '../../db/transact.ts';
import type { Form } from '../../http/form.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { ClientView } from '../clients/view.ts';
import type { Minted } from '../issued-tokens/mint.ts';

/** What a grant gets: everything that needs no grant to be decided is decided. */
export interface GrantCall {
  realm: string;
  settings: RealmSettingsDto;
  client: ClientView;
  form: Form;
  /** Requested and allowed; empty where none was requested. */
  resources: readonly string[];
  /** All that the client may have tokens for at this moment: what was granted once may have been withdrawn. */
  presentResources(): readonly string[];
  /** Requested names; undefined where none were. */
  scopes: readonly string[] | undefined;
  by: By;
}

export interface Granted extends Minted {
  refreshToken?: string;
}

export interface Grant {
  grantType: string;
  /** Whether a client that proves nothing may use it. */
  publicClients: boolean;
  authorize(call: GrantCall): Promise<Granted>;
}

/** What a transaction of a grant gives: a refusal is a value, since an exception would roll back its audit row. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; refusal: OAuthError };

/** @throws OAuthError the refusal */
export function accepted<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw outcome.refusal;
}

/** A refusal that changed something, recorded with it. One that changed nothing is thrown: the endpoint records it. */
export function refuse(
  tx: Pick<Tx, 'record'>,
  { realm, client, by }: GrantCall,
  { grant, description, reason }: { grant: string; description: string; reason: string },
): { ok: false; refusal: OAuthError } {
  const refusal = new OAuthError('invalid_grant', description, { reason, audited: true });
  tx.record(refusedEvent({ realm, by }, client.clientId, grant, refusal));
  return { ok: false, refusal };
}

/** The audit row of a refused token request. */
export const refusedEvent = (
  { realm, by }: { realm: string; by: By },
  clientId: string | null,
  grant: string | null,
  error: OAuthError,
): DomainEvent => ({
  type: 'TOKEN_REFUSED',
  realm,
  by,
  clientId,
  outcome: 'failure',
  data: { grant, error: error.error, reason: error.reason ?? error.description ?? null },
});
