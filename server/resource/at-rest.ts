// Secrets that must be read again, encrypted in a column of the object's own row. Decisions "Secrets". The features
// hash secrets that are only compared.
import type { Seal } from '../crypto/seal.ts';
import { sameSecret } from '../crypto/tokens.ts';
import type { ObjectRef, SecretAtRest } from './table.ts';

export interface Sealed extends SecretAtRest {
  /** Opens a row's secret for the feature that uses it. @throws Error if it was sealed for another row or under an unknown key */
  open(sealed: Buffer, at: ObjectRef): string;
}

/** Binds a sealed value to its row, so that rows can't be swapped: `webhook:<realm>:<id>`. */
export const contextAtRest = (kind: string, { realm, id }: Pick<ObjectRef, 'realm' | 'id'>) => `${kind}:${realm}:${id}`;

/** A secret column that is sealed. @param kind binds the value to its row, see {@link contextAtRest} */
export function sealed(seal: Seal, kind: string, column = 'secret'): Sealed {
  const context = (at: ObjectRef) => contextAtRest(kind, at);
  return {
    columns: { [column]: 'bytea' },
    stored: (row, at) => {
      const value = row[column];
      if (!Buffer.isBuffer(value)) return null;
      return { id: at.id, matches: (plain) => sameSecret(seal.open(value, context(at)), Buffer.from(plain)) };
    },
    store: async (plain, at) => ({ [column]: seal.seal(plain, context(at)) }),
    open: (value, at) => seal.open(value, context(at)).toString(),
  };
}
