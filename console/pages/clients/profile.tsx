// The security profile that a client is held to: what the client still lacks, and what the profile sets in place of its fields.
import { clientForm } from '../../../server/contract/client-form.ts';
import {
  PROFILE_ALGORITHM,
  profileClientSigning,
  profileDefaults,
  profileNames,
  profileSetsFor,
  SecurityProfile,
} from '../../../server/contract/security-profiles.ts';
import { FullValue } from '../../kinds/cells.tsx';
import type { Row } from '../../kinds/entry.ts';
import { labelOf } from '../../kinds/words.ts';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Note } from '../../ui/state.tsx';

export interface Held {
  profile: SecurityProfile;
  /** Each begins with the field. */
  lacks: readonly string[];
}

/** undefined: the client is held to no profile. */
export function heldTo({ effectiveProfile, profileLacks }: Row): Held | undefined {
  const profile = SecurityProfile.safeParse(effectiveProfile).data;
  const lacks = Array.isArray(profileLacks) ? profileLacks.filter((one) => typeof one === 'string') : [];
  return profile && { profile, lacks };
}

const labelled = (field: string): string => clientForm.fields?.[field]?.label ?? labelOf(field);

function Lacks({ lacks }: { lacks: readonly string[] }) {
  return (
    <ul>
      {lacks.map((one) => {
        const [field = '', ...words] = one.split(' ');
        return (
          <li key={one}>
            <code>{field}</code> {words.join(' ').replace(/ \(profile [^)]*\)$/, '')}
          </li>
        );
      })}
    </ul>
  );
}

export const ProfileBadge = ({ held: { profile, lacks } }: { held: Held }) =>
  lacks.length === 0 ? <Badge tone="info">{profileNames[profile]}</Badge> : <Badge tone="bad">refused</Badge>;

/** For the head of the page: a client that lacks something gets no tokens. */
export const LacksNote = ({ held: { profile, lacks } }: { held: Held }) =>
  lacks.length === 0 ? null : (
    <Note tone="bad">
      <strong>This client is refused everywhere. It lacks for {profileNames[profile]}:</strong>
      <Lacks lacks={lacks} />
    </Note>
  );

export function ProfileTab({ row, held: { profile, lacks } }: { row: Row; held: Held }) {
  const own = row.profile === profile;
  const set = Object.entries(profileSetsFor(profile, row.tlsClientCertificateBoundAccessTokens === true));
  const defaults = profileDefaults.filter((field) => typeof row[field] !== 'string');
  return (
    <div className="stack">
      <Panel title={profileNames[profile]} plain>
        <Facts
          facts={[
            { name: 'Set by', value: own ? 'the client’s own field “Security profile”' : 'the realm’s settings' },
            {
              name: 'Still lacks',
              value: lacks.length === 0 ? <Badge tone="good">nothing</Badge> : <Lacks lacks={lacks} />,
            },
          ]}
        />
      </Panel>
      <Panel
        title="What the profile sets"
        lead="These values count, whatever the client’s fields say. The fields stay as they are, and count again without the profile."
        plain
      >
        <Facts
          facts={[
            ...set.map(([field, value]) => ({
              name: labelled(field),
              help: row[field] !== value && <Stored value={row[field]} />,
              value: <FullValue field={field} cell="json" value={value} />,
            })),
            { name: 'Algorithms that the client may sign by', value: <Chips items={profileClientSigning.options} /> },
            ...defaults.map((field) => ({
              name: labelled(field),
              value: <FullValue field={field} cell="text" value={PROFILE_ALGORITHM} />,
            })),
            ...(profile === 'fapi2-message-signing'
              ? [{ name: 'Authorization responses and introspection', value: 'only as signed JWTs' }]
              : []),
          ]}
        />
      </Panel>
    </div>
  );
}

const Stored = ({ value }: { value: unknown }) => <>The field says: {stored(value)}</>;

function stored(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
