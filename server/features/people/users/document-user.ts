// A user of a realm document: validated by the schema unless `isPlainUser` accepts it, with its ties to roles, groups and
// credentials in the form of the import's rows. Specification 2.10; decisions "Import, export, plan".
import type { z } from 'zod';
import type { FieldError } from '../../../contract/problem.ts';
import { type CredentialDocument, type IdentityDocument, UserDocument } from '../../../contract/users.ts';
import { sealOtp } from '../../../crypto/otp.ts';
import { inPhcForm, usablePhc } from '../../../crypto/phc.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { identityDigest } from '../../../domain/identity-links.ts';
import { clientRoleKey, issuesAt, joinPaths } from '../../../resource/items.ts';
import { isPlainUser } from './plain-user.ts';

export type ReadUser = { user: UserDocument; errors?: never } | { user?: never; errors: FieldError[] };

export function readUser(value: unknown, path: string): ReadUser {
  if (isPlainUser(value)) return { user: value };
  const { data: user, error } = UserDocument.safeParse(value);
  if (error) return { errors: issuesAt(path, error) };
  const { createdAt } = user;
  if (createdAt !== undefined && createdAt < 0)
    return {
      errors: [
        { path: joinPaths(path, 'createdAt'), message: 'must be epoch milliseconds of a year from 1970 to 9999' },
      ],
    };
  const errors = (user.credentials ?? []).flatMap((c, i) => credentialFaults(c, joinPaths(path, `credentials[${i}]`)));
  if (errors.length > 0) return { errors };
  const { requiredActions } = user;
  // Sorted and without duplicates, as the admin API stores them.
  return { user: requiredActions ? { ...user, requiredActions: [...new Set(requiredActions)].sort() } : user };
}

function credentialFaults(c: z.output<typeof CredentialDocument>, path: string): FieldError[] {
  if (c.type === 'password')
    return c.phc !== undefined && usablePhc(c.phc)
      ? []
      : [{ path: `${path}.phc`, message: 'must be a PHC string of argon2, scrypt or pbkdf2, or a hash of bcrypt' }];
  return c.secret === undefined ? [{ path: `${path}.secret`, message: 'is needed for type otp' }] : [];
}

/** Which kinds of ties at least one user of the import declares. */
export interface Declares {
  roles: boolean;
  groups: boolean;
  clientRoles: boolean;
  credentials: boolean;
  identities: boolean;
}

export interface Ties {
  roles: string[] | undefined;
  groups: string[] | undefined;
  /** Keys `clientId/role`. */
  clientRoles: string[] | undefined;
  /** Rows of `credential`. */
  credentials: object[] | undefined;
  /** Rows of `identity_link`, with providers named by alias. */
  identities: object[] | undefined;
}

/** Returns a user's ties, and notes in `declares` which kinds occur. */
export function createTies({ seal, newId, realm }: { seal: Seal; newId: () => string; realm: string }) {
  const declares: Declares = { roles: false, groups: false, clientRoles: false, credentials: false, identities: false };

  /** The row that features/people/credentials would store. An OTP secret is sealed for this row. */
  function credentialRow(c: CredentialDocument) {
    const id = newId();
    const secret =
      c.type === 'password'
        ? { phc: inPhcForm(c.phc ?? ''), temporary: c.temporary ?? false }
        : {
            sealed: sealOtp(seal, realm, id, c.secret ?? ''),
            algorithm: c.algorithm ?? 'SHA1',
            digits: c.digits ?? 6,
            period: c.period ?? 30,
          };
    return { id, type: c.type, label: c.label ?? null, secret };
  }

  const identityRow = (identity: IdentityDocument) => ({
    id: newId(),
    ...identity,
    digest: identityDigest(identity).toString('hex'),
  });

  function of({ roles, groups, clientRoles, credentials, identities }: UserDocument): Ties {
    declares.roles ||= roles !== undefined;
    declares.groups ||= groups !== undefined;
    declares.clientRoles ||= clientRoles !== undefined;
    declares.credentials ||= credentials !== undefined;
    declares.identities ||= identities !== undefined;
    return {
      roles,
      groups,
      clientRoles:
        clientRoles &&
        Object.entries(clientRoles).flatMap(([id, names]) => names.map((role) => clientRoleKey(id, role))),
      credentials: credentials?.map(credentialRow),
      identities: identities?.map(identityRow),
    };
  }
  return { declares, of };
}
