// Deleting an object: what depends on it is shown first, and its name is typed.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call, type ServerProblem } from '../api/client.ts';
import { queryClient, readAnew } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { AsCommand } from '../ui/as-command.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { Loading, Note, ProblemNote } from '../ui/state.tsx';
import { say } from '../ui/toast.tsx';
import { requestCommands } from './commands.ts';
import type { KindEntry, Row } from './entry.ts';
import { allKinds } from './known.ts';
import { kindNow, type ObjectAddress, paramsOf, useKind } from './loaded.ts';
import { managedOf } from './managed.tsx';
import { shortManager } from './managers.ts';
import { listAddress, nameOf, objectAddress } from './pages.tsx';

export interface Dependent {
  entry: KindEntry;
  row: Row;
  fields: string[];
}

/** Of each kind at most so many objects are looked at. */
export const LOOKED_AT = 1000;

const holds = (value: unknown, name: string): boolean =>
  value === name || (Array.isArray(value) && value.includes(name));

/** The objects with a field that names this one, of kinds that the reader may list. */
export async function dependentsOf(
  of: KindEntry,
  name: string,
  realm: string,
  mayRead: (entry: KindEntry) => boolean,
): Promise<Dependent[]> {
  const others = allKinds.filter((entry) => !entry.ofClient && mayRead(entry));
  const found = await Promise.all(
    others.map(async (entry) => {
      const { names = {}, routes } = await kindNow(entry);
      const fields = Object.keys(names).filter((field) => names[field] === of.kind);
      if (fields.length === 0) return [];
      const rows = ((await call(routes.list, { params: { realm }, query: { limit: LOOKED_AT } })).body ?? []) as Row[];
      return rows
        .map((row) => ({ entry, row, fields: fields.filter((field) => holds(row[field], name)) }))
        .filter((one) => one.fields.length > 0);
    }),
  );
  return found.flat();
}

export default function Delete({
  entry,
  address,
  row,
  etag,
  onClose,
}: {
  entry: KindEntry;
  address: ObjectAddress;
  row: Row;
  etag: string | undefined;
  onClose: () => void;
}) {
  const { realm, of } = address;
  const name = nameOf(entry, row);
  const manager = managedOf(row)?.get('');
  const may = useMay();
  const kind = useKind(entry);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const dependents = useQuery({
    queryKey: [realm, 'dependents', entry.section, name],
    queryFn: () => dependentsOf(entry, name, realm, (one) => may(realm, one.read)),
    gcTime: 0,
  });
  // a key of several fields is the path of the routes that delete by it
  const keys = Object.fromEntries([entry.key].flat().map((field) => [field, row[field]]));
  const params = { ...keys, ...paramsOf(entry, address) };
  const remove = useMutation<unknown, ServerProblem>({
    mutationFn: async () => {
      if (!kind?.routes.remove) throw new Error(`${entry.many} can’t be deleted here`);
      return call(kind.routes.remove, { params, ...(etag !== undefined && { headers: { 'if-match': etag } }) });
    },
    onSuccess: async () => {
      onClose();
      navigate(listAddress(realm, entry, of));
      queryClient.removeQueries({ queryKey: [realm, 'object', entry.section, address.key, of] });
      await readAnew(realm);
      say(`Deleted the ${entry.label} ${name}.`);
    },
  });
  return (
    <Dialog
      title={`Delete ${name}?`}
      isOpen
      alert
      onClose={onClose}
      footer={
        <>
          {kind?.routes.remove && (
            <AsCommand quiet commands={() => (kind.routes.remove ? requestCommands(kind.routes.remove, params) : {})} />
          )}
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="danger primary"
            isDisabled={typed !== name || remove.isPending}
            onPress={() => remove.mutate()}
          >
            {remove.isPending ? 'Deleting…' : `Delete the ${entry.label}`}
          </Button>
        </>
      }
    >
      {remove.error && <ProblemNote problem={remove.error} />}
      <p>It is gone at once, for everybody. This can’t be taken back here.</p>
      {manager !== undefined && (
        <Note tone="warn">
          <strong>{shortManager(manager)} declares it.</strong>
          <span>Its manager makes it again with its next run. Take it out of the declaration instead.</span>
        </Note>
      )}
      {dependents.isPending ? (
        <Loading lines={2} label="Looking for what depends on it" />
      ) : dependents.error ? (
        <ProblemNote problem={dependents.error} />
      ) : dependents.data.length === 0 ? (
        <Note>Nothing that you may see refers to it.</Note>
      ) : (
        <Note tone="warn">
          <strong>
            {dependents.data.length === 1
              ? 'One object refers to it:'
              : `${dependents.data.length} objects refer to it:`}
          </strong>
          <ul>
            {dependents.data.slice(0, 20).map((one) => (
              <li key={`${one.entry.section} ${nameOf(one.entry, one.row)}`}>
                {one.entry.label}{' '}
                <Link href={objectAddress(realm, one.entry, one.row)}>{nameOf(one.entry, one.row)}</Link>, in{' '}
                {one.fields.join(', ')}
              </li>
            ))}
          </ul>
        </Note>
      )}
      <TextField label={`Type ${name} to go on`} value={typed} onChange={setTyped} mono autoFocus />
    </Dialog>
  );
}
