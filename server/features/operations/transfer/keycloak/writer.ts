// Writes the text of the realm document: the realm's sections, then its users, then organizations and service accounts'
// roles. Before any section is written, all are reduced to the values that a plan of them accepts. docs/keycloak.md.
import type { FieldError } from '../../../../contract/problem.ts';
import type { UserProfile } from '../../../../contract/user-profile.ts';
import type { UserDocument } from '../../../../contract/users.ts';
import { strings } from '../../../../resource/items.ts';
import type { RealmPart } from '../../../../resource/part.ts';
import { cutRefused } from './cut.ts';
import { documentOf, issuersIn, objectsIn, type TranslatedRealm, thereIn } from './document.ts';
import type { Notes } from './notes.ts';
import { type Clash, createPeople, type UserText } from './people.ts';
import type { KnownClient } from './roles.ts';
import type { Surroundings, There } from './users.ts';

/** The most plans of the sections; each plan reports up to a hundred faults. */
const MOST_CHECKS = 100;

export interface Stored {
  profile: UserProfile;
  issuers: ReadonlyMap<string, string | undefined>;
  there: There;
}

export interface WriterDeps {
  realm: string;
  parts: readonly RealmPart[];
  notes: Notes;
  /** The faults that a plan of these sections reports. */
  check(sections: ReadonlyMap<string, unknown>): Promise<readonly FieldError[]>;
  clashesWith(users: readonly UserDocument[]): Promise<readonly Clash[]>;
}

const membersOf = (organization: unknown) => strings(Object(organization).members);
const text = (piece: string) => Buffer.from(piece);

export function createWriter({ realm, parts, notes, check, clashesWith }: WriterDeps) {
  let told: TranslatedRealm | undefined;
  let name = '';
  let before = '{';
  let users = 0;
  const people = createPeople({ notes, clashesWith });
  const accounts = new Map<string, { clientId: string }>();
  /** Members of organizations that are users in these files; other members may exist elsewhere. */
  const found = new Map<string, string>();
  let members: ReadonlySet<string> = new Set();
  let fromRealm: Stored | undefined;
  const around = (): Surroundings => ({
    known: told?.known ?? everyClient,
    there: told ? thereIn(told.sections) : fromRealm?.there,
    issuers: told ? issuersIn(told.sections.get('identityProviders')) : (fromRealm?.issuers ?? new Map()),
    profile: told ? told.profile : fromRealm?.profile,
    notes,
  });

  /** @param only the sections from which values may still be removed; absent: all */
  async function cutToFit(sections: Map<string, unknown>, only?: ReadonlySet<string>): Promise<void> {
    for (let checks = 0; checks < MOST_CHECKS; checks += 1) {
      const organizations = objectsIn(sections.get('organizations')).map(({ members: _, ...rest }) => rest);
      const planned = new Map(sections);
      if (organizations.length > 0) planned.set('organizations', organizations);
      const faults = await check(planned);
      const own = only ? faults.filter(({ path }) => only.has(/^\w*/.exec(path)?.[0] ?? '')) : faults;
      if (own.length === 0 || !cutRefused(sections, own, { parts, notes })) return;
    }
  }

  const withMembers = (organizations: unknown): unknown[] =>
    objectsIn(organizations).map((organization) => {
      const { members: all, ...rest } = organization;
      const there = strings(all).flatMap((username) => found.get(username.toLowerCase()) ?? []);
      if (there.length < strings(all).length)
        notes.add(
          { kind: 'organization', key: String(rest.name), field: 'members' },
          'some are not in these files: import their files with the realm’s, or add them by hand',
        );
      return there.length === 0 ? rest : { ...rest, members: [...new Set(there)] };
    });

  return {
    began: () => told !== undefined,
    is: (other: string) => other === name,
    fit(to: Stored): void {
      fromRealm = to;
    },
    async *realm(fields: Record<string, unknown>, file: number) {
      name = typeof fields.realm === 'string' ? fields.realm : '';
      told = await documentOf(fields, { realm, parts, notes, file });
      await cutToFit(told.sections);
      const named = objectsIn(told.sections.get('organizations')).flatMap(membersOf);
      members = new Set(named.map((username) => username.toLowerCase()));
      for (const [section, value] of told.sections) {
        if (section === 'organizations') continue;
        yield text(`${before}${JSON.stringify(section)}:${JSON.stringify(value)}`);
        before = ',';
      }
    },
    async *users(texts: readonly UserText[]) {
      if (texts.length === 0) return;
      const taken = await people.take(texts, around());
      for (const account of taken.accounts)
        if (!accounts.has(account.clientId)) accounts.set(account.clientId, account);
      for (const user of taken.users) {
        const folded = user.username.toLowerCase();
        if (members.has(folded)) found.set(folded, user.username);
        yield text(`${users === 0 ? `${before}"users":[` : ','}${JSON.stringify(user)}`);
        users += 1;
      }
    },
    async *end() {
      if (users > 0) {
        yield text(']');
        before = ',';
      }
      const organizations = withMembers(told?.sections.get('organizations'));
      if (organizations.length > 0) {
        yield text(`${before}"organizations":${JSON.stringify(organizations)}`);
        before = ',';
      }
      if (accounts.size > 0) {
        const sections = new Map(told?.sections).set('serviceAccountRoles', [...accounts.values()]);
        await cutToFit(sections, new Set(['serviceAccountRoles']));
        const left = objectsIn(sections.get('serviceAccountRoles'));
        if (left.length > 0) {
          yield text(`${before}"serviceAccountRoles":${JSON.stringify(left)}`);
          before = ',';
        }
      }
      yield text(before === '{' ? '{}' : '}');
    },
  };
}

/** For users whose realm isn't in the files: every client is assumed to exist, apart from Keycloak's own. */
const everyClient: KnownClient = (clientId) =>
  !/^(account|account-console|admin-cli|broker|realm-management|security-admin-console)$/.test(clientId);
