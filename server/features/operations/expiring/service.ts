// Owns: lists of what needs an administrator: what ends soon in a realm, and clients that nobody uses.
// Does not own: the hour of a client's last token (clients/activity.ts), reviews of agents (people/agents).
// Implements: decisions "Lists".
import { X509Certificate } from 'node:crypto';
import { DAY_MS } from '../../../contract/durations.ts';
import type { ClientUse, ExpiringKind, ExpiringThing } from '../../../contract/expiring.ts';
import type { Permission } from '../../../contract/permissions.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Reach } from '../../../domain/reach.ts';
import * as store from './store.ts';

/** The permission to see each kind. */
export const readsOf: Record<ExpiringKind, Permission> = {
  'client-secret': 'clients:read',
  'key-certificate': 'keys:read',
  'saml-client-certificate': 'saml-clients:read',
  invitation: 'users:read',
  'initial-access-token': 'clients:read',
  'scim-token': 'users:read',
  agent: 'agents:read',
  'agent-review': 'agents:read',
};

/** Applications stop working without these. */
const REPLACED: readonly ExpiringKind[] = ['client-secret', 'key-certificate', 'saml-client-certificate', 'scim-token'];

const words: Record<ExpiringKind, (name: string) => string> = {
  'client-secret': (name) => `The former secret of the client ${name}, which a newer one replaces`,
  'key-certificate': (name) => `The certificate of the signing key ${name}`,
  'saml-client-certificate': (name) => `A certificate of the SAML client ${name}`,
  invitation: (name) => `The invitation of ${name}`,
  'initial-access-token': () => 'A token by which clients register themselves',
  'scim-token': (name) => `The SCIM token ${name}`,
  agent: (name) => `The agent ${name}`,
  'agent-review': (name) => `The review of the agent ${name}, which is suspended without one`,
};

/** Unreadable certificates are reported where they are used. */
function endOf({ certificate }: store.CertificateRow): Date | undefined {
  try {
    const pem = certificate.includes('-----BEGIN');
    return new X509Certificate(pem ? certificate : Buffer.from(certificate, 'base64')).validToDate;
  } catch {
    return undefined;
  }
}

export function createLists({ sql, now }: { sql: Sql; now: () => Date }) {
  async function soonest(
    realm: string | null,
    kinds: readonly ExpiringKind[],
    { days, limit }: { days: number; limit: number },
  ): Promise<(ExpiringThing & { realm: string })[]> {
    const at = now();
    const until = new Date(at.getTime() + days * DAY_MS);
    const [dated, certificates] = await Promise.all([
      store.endsOf(sql, realm, kinds.filter(store.isDated), { now: at, until, limit }),
      store.certificatesOf(sql, realm, kinds),
    ]);
    const ending = certificates.flatMap((row) => {
      const end = endOf(row);
      return end && end <= until ? [{ ...row, at: end }] : [];
    });
    return [...dated, ...ending]
      .sort((a, b) => a.at.getTime() - b.at.getTime())
      .slice(0, limit)
      .map(({ realm: of, kind, id, name, at: end }) => ({
        realm: of,
        kind,
        id,
        name,
        expiresAt: end.getTime(),
        expired: end <= at,
        message: words[kind](name),
      }));
  }

  return {
    /** The soonest first. */
    async expiring(
      realm: string,
      kinds: readonly ExpiringKind[],
      page: { days: number; limit: number },
    ): Promise<ExpiringThing[]> {
      const found = await soonest(realm, kinds, page);
      return found.map(({ realm: _, ...thing }) => thing);
    },

    /** Of all realms: what an administrator must replace. Invitations and reviews are each realm's own matter. */
    expiringAnywhere: (page: { days: number; limit: number }) => soonest(null, REPLACED, page),

    async unusedClients(
      realm: string,
      { days, ...page }: { days: number; after: string; limit: number; reach: Reach | undefined },
    ): Promise<ClientUse[]> {
      const before = new Date(now().getTime() - days * DAY_MS);
      const rows = await store.unusedClients(sql, realm, { ...page, before });
      return rows.map(({ id, client_id: clientId, name, enabled, used_at, since }) => ({
        id,
        clientId,
        name,
        enabled,
        lastUsedAt: used_at?.getTime() ?? null,
        countedSince: since.getTime(),
      }));
    },
  };
}
export type Lists = ReturnType<typeof createLists>;
