// Who did something or to what it was done, by name, with a link to its page where there is one.
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import type { listEvents } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';

export type AuditEvent = OutputOf<typeof listEvents>[number];
type Party = NonNullable<AuditEvent['actor']>;

export const nameOfParty = ({ name, id, type }: Party): string => name ?? id ?? type;

function pageOf(realm: string, { type, id }: Party): string | undefined {
  if (id === null) return undefined;
  if (type === 'user') return inRealm(realm, 'users', id);
  if (type === 'agent') return inRealm(realm, 'agents', id);
  return undefined;
}

/** To what an event was done. An invitation has no name: the audit log keeps no address of a person without an account. */
export function SubjectName({ event: { type, subject, data }, realm }: { event: AuditEvent; realm?: string }) {
  if (subject?.type === 'object' && subject.name === null && type.startsWith('INVITATION_'))
    return (
      <span>
        an invitation
        {typeof data.organization === 'string' && (
          <>
            {' '}
            to <bdi>{data.organization}</bdi>
          </>
        )}
      </span>
    );
  return <PartyName party={subject} {...(realm !== undefined && { realm })} />;
}

/** @param realm links lead to pages of it; absent: the name alone, as in a row that is a link itself */
export function PartyName({ party, realm }: { party: Party | null; realm?: string }) {
  if (party === null) return <span className="none">–</span>;
  const to = realm === undefined ? undefined : pageOf(realm, party);
  const name = <bdi>{nameOfParty(party)}</bdi>;
  return (
    <span>
      {to === undefined ? name : <Link href={to}>{name}</Link>}
      {party.type !== 'user' && party.type !== 'object' && <span className="soft small"> {party.type}</span>}
    </span>
  );
}
