// Which tables a realm's backup holds. Each table of realms but that of a kind of the configuration is named here once
// (test/guards/backup-tables.test.ts), so that a new one is decided on.
import { declaredKinds } from '../contract/declared-kinds.ts';
import type { KindOf } from '../contract/kind.ts';

/** How a table stands in a backup: always, with sessions, with history, or never. */
const all = ['always', 'sessions', 'history', 'never'] as const;
export type Part = (typeof all)[number];

const lists: Record<Part, string> = {
  always: `realm admin_grant admin_role_client admin_role_group application_client application_role authorization_service
    client_registration client_role client_scope_claim client_scope_link client_use consent credential
    directory_group directory_password directory_person first_administrator flow flow_execution group_member
    group_role held_object hold identity_link initial_access_token invitation known_device lockout managed_object
    manager organization_domain organization_member password_history push_token realm_encryption_key realm_key
    realm_user role_composite saml_consent scim_group scim_link scim_link_member scim_target_state scim_token
    scim_user signal_connection signal_person signal_source signal_stream signal_stream_subject uma_resource
    uma_share user_role`,
  sessions: 'session session_client refresh_family revoked_token provider_session provider_token saml_session',
  // The chain over the log begins anew in the realm that is restored: its blocks name positions of one installation.
  history: 'event statistic sign_in_history applied_plan',
  // what lives for minutes or is under way, with an import's rows; administrators' sessions; the chain over the log, and what was forwarded
  never: `sign_in authorization_code backchannel_authentication device_authorization device_challenge device_enrolment
    device_transaction pushed_authorization_request permission_ticket password_reset enrolment_link sign_in_report saml_answered
    saml_logout provider_logout provider_message client_assertion spent_proof dpop_proof secret_guess code_guess message
    message_count realm_message_count webhook_delivery signal_set signal_received signal_risk directory_sync
    import_user admin_session client_activity departed_event event_amendment event_block event_chain event_fold`,
};
const parts = new Map(all.flatMap((part) => lists[part].split(/\s+/).map((name): [string, Part] => [name, part])));

/** A kind of the configuration needs no decision. */
const kinds = new Set(Object.values<KindOf>(declaredKinds).map(({ table }) => table));

/** Undefined: nobody has decided on this table. */
export const partOf = (table: string): Part | undefined =>
  parts.get(table) ?? (kinds.has(table) ? 'always' : undefined);

/** Every table that is named here. */
export const decided = (): string[] => [...parts.keys()];
