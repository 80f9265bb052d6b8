// A realm's keys: which sign, which clients encrypt for, which are retained; a new one, and the deletion of an old one.
import { type FormEvent, useId, useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { deleteKey, getEndpoints, listKeys, rotateKeys } from '../../generated/routes.ts';
import { curlOf, requestCommands } from '../../kinds/commands.ts';
import { word } from '../../kinds/shell-words.ts';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Code, CopyButton } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';

type RealmKey = OutputOf<typeof listKeys>[number];

const ENCRYPTION = 'RSA-OAEP-256';
const algorithms = [
  { id: 'RS256', label: 'RS256', help: 'The usual one; signs SAML too' },
  { id: 'PS256', label: 'PS256' },
  { id: 'ES256', label: 'ES256' },
  { id: 'EdDSA', label: 'EdDSA' },
  { id: ENCRYPTION, label: ENCRYPTION, help: 'Signs nothing: clients encrypt their requests for it' },
] as const;
type Algorithm = (typeof algorithms)[number]['id'];

function stateOf({ status, algorithm }: RealmKey): string {
  if (algorithm === ENCRYPTION) return status === 'ACTIVE' ? 'is encrypted for' : 'decrypts still';
  return status === 'ACTIVE' ? 'signs' : 'published still';
}

/** The keys for RS256 have the name that they had before there were others. */
const algorithmWords = (algorithm: string): string => (algorithm === 'RSA' ? 'RSA (RS256)' : algorithm);

export default function Keys({ params: { realm } }: PageProps) {
  const may = useMay();
  const mayWrite = may(realm, 'keys:write');
  const keys = useRead(listKeys, { params: { realm }, query: { limit: 1000 } });
  const endpoints = useRead(getEndpoints, { params: { realm } }, { enabled: may(realm, 'realm:read') });
  const [rotates, setRotates] = useState(false);
  const [deleted, setDeleted] = useState<RealmKey>();
  const [shown, setShown] = useState<RealmKey>();
  const rows = keys.data?.body;
  const columns: TableColumn<RealmKey>[] = [
    { id: 'id', head: 'key', cell: ({ keyId }) => <code>{keyId}</code> },
    { id: 'algorithm', head: 'algorithm', cell: ({ algorithm }) => algorithmWords(algorithm) },
    {
      id: 'status',
      head: 'state',
      cell: (key) => <Badge {...(key.status === 'ACTIVE' && { tone: 'good' })}>{stateOf(key)}</Badge>,
    },
    { id: 'created', head: 'made', cell: ({ createdAt }) => <Time ms={createdAt} /> },
    {
      id: 'rotated',
      head: 'in use until',
      cell: ({ rotatedAt }) => (rotatedAt === null ? <span className="none">now</span> : <Time ms={rotatedAt} />),
    },
    {
      id: 'public',
      head: 'public key',
      cell: (key) => (
        <span className="row">
          <Button small aria-label={`Show the public key ${key.keyId}`} onPress={() => setShown(key)}>
            Show
          </Button>
          <CopyButton text={pemOf(key)} label={`Copy the public key ${key.keyId}`} />
        </span>
      ),
    },
    ...(mayWrite
      ? [
          {
            id: 'delete',
            head: 'delete',
            cell: (key: RealmKey) =>
              key.status === 'RETAINED' && (
                <Button
                  small
                  variant="danger"
                  aria-label={`Delete the key ${key.keyId}`}
                  onPress={() => setDeleted(key)}
                >
                  Delete…
                </Button>
              ),
          },
        ]
      : []),
  ];
  return (
    <Page
      title="Keys"
      lead="The keys that sign the realm’s tokens and assertions, and those that clients encrypt for. Applications read them from the JWKS."
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <>
          <AsCommand
            commands={() => ({ realmctl: `realmctl get keys -r ${word(realm)}`, curl: curlOf(listKeys, { realm }) })}
          />
          {mayWrite && (
            <Button variant="primary" onPress={() => setRotates(true)}>
              Make a new key
            </Button>
          )}
        </>
      }
    >
      {keys.error && <ProblemNote problem={keys.error} retry={() => void keys.refetch()} />}
      {rows ? (
        <Table
          label="Keys"
          rows={rows}
          columns={columns}
          idOf={({ keyId }) => keyId}
          empty={
            <Empty icon="key" title="There is no key yet">
              <p>The first one is made with the realm.</p>
            </Empty>
          }
        />
      ) : (
        !keys.error && <Loading lines={4} />
      )}
      {endpoints.data?.body && (
        <p className="hint">
          Published at <code>{endpoints.data.body.jwks}</code>
        </p>
      )}
      {rotates && <RotateDialog realm={realm} onClose={() => setRotates(false)} />}
      {deleted && <DeleteDialog realm={realm} of={deleted} onClose={() => setDeleted(undefined)} />}
      {shown && (
        <Dialog title="Public key" isOpen onClose={() => setShown(undefined)} size="wide">
          <Code text={pemOf(shown)} label="the public key" />
        </Dialog>
      )}
    </Page>
  );
}

const PEM_LINE = /.{1,64}/g;
const pemOf = ({ publicKey }: RealmKey): string =>
  ['-----BEGIN PUBLIC KEY-----', ...(publicKey.match(PEM_LINE) ?? []), '-----END PUBLIC KEY-----', ''].join('\n');

function RotateDialog({ realm, onClose }: { realm: string; onClose: () => void }) {
  const form = useId();
  const rotate = useWrite(rotateKeys);
  const [algorithm, setAlgorithm] = useState<Algorithm>('RS256');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotate.mutate(
      { params: { realm }, body: { algorithm } },
      {
        onSuccess: () => {
          say(algorithm === ENCRYPTION ? 'Clients encrypt for a new key now.' : `A new key signs by ${algorithm} now.`);
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      title="Make a new key"
      isOpen
      onClose={onClose}
      footer={
        <>
          <AsCommand
            quiet
            commands={() => ({
              realmctl: `realmctl rotate-keys ${word(realm)} --algorithm ${algorithm}`,
              curl: curlOf(rotateKeys, { realm }, { algorithm }),
            })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" isDisabled={rotate.isPending}>
            {rotate.isPending ? 'Making it…' : 'Make the key'}
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        {rotate.error && <ProblemNote problem={rotate.error} />}
        {algorithm === ENCRYPTION ? (
          <p>
            The new key is published at once in place of the one before, which still decrypts requests until you delete
            it.
          </p>
        ) : (
          <>
            <p>
              The new key signs at once. The one before it stays published, so tokens that it signed stay valid until
              they expire.
            </p>
            <Note>
              Applications that keep the keys, and SAML service providers with a fixed certificate, need the new one.
            </Note>
          </>
        )}
        <Select
          label="Algorithm"
          options={algorithms.map((one) => ({ ...one }))}
          value={algorithm}
          onChange={(id) => setAlgorithm(algorithms.find((one) => one.id === id)?.id ?? 'RS256')}
        />
      </form>
    </Dialog>
  );
}

function DeleteDialog({
  realm,
  of: { keyId, algorithm },
  onClose,
}: {
  realm: string;
  of: RealmKey;
  onClose: () => void;
}) {
  const may = useMay();
  const remove = useWrite(deleteKey);
  const params = { realm, keyId };
  return (
    <Dialog
      title="Delete the key?"
      isOpen
      alert
      onClose={onClose}
      footer={
        <>
          <AsCommand quiet commands={() => requestCommands(deleteKey, params)} />
          {may(realm, 'events:read') && (
            <ButtonLink to={`${inRealm(realm, 'events')}?${new URLSearchParams({ type: 'KEY_ROTATED' })}`}>
              When keys were made
            </ButtonLink>
          )}
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="danger primary"
            isDisabled={remove.isPending}
            onPress={() =>
              remove.mutate(
                { params },
                {
                  onSuccess: () => {
                    say('Deleted the key.');
                    onClose();
                  },
                },
              )
            }
          >
            Delete the key
          </Button>
        </>
      }
    >
      {remove.error && <ProblemNote problem={remove.error} />}
      <p>
        {algorithm === ENCRYPTION ? (
          <>
            Requests that clients encrypted for <code>{keyId}</code> are refused from then on.
          </>
        ) : (
          <>
            Tokens that <code>{keyId}</code> signed are refused from then on, also those that have not expired.
          </>
        )}{' '}
        This can’t be taken back.
      </p>
    </Dialog>
  );
}
