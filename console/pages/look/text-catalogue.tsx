// The built-in texts of the pages, from which the realm's own ones are begun.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { listBuiltInTexts } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Find } from '../../ui/find.tsx';
import { useLater } from '../../ui/later.ts';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';

const SHOWN = 25;
type BuiltIn = OutputOf<typeof listBuiltInTexts>[number];

export function TextCatalogue({
  realm,
  locale,
  own,
  onTake,
}: {
  realm: string;
  locale: string;
  /** Keys that the realm has replaced. */
  own: ReadonlySet<string>;
  /** Absent: the reader may not write. */
  onTake?: ((key: string, text: string) => void) | undefined;
}) {
  const [sought, setSought] = useState('');
  const q = useLater(sought);
  const query = { locale, limit: SHOWN, ...(q !== '' && { q }) };
  const texts = useRead(listBuiltInTexts, { params: { realm }, query }, { keep: true });
  const columns: TableColumn<BuiltIn>[] = [
    { id: 'key', head: 'key', cell: ({ key }) => <code>{key}</code> },
    { id: 'text', head: 'built-in text', cell: ({ text }) => <bdi>{text}</bdi> },
    {
      id: 'placeholders',
      head: 'placeholders',
      cell: ({ placeholders }) =>
        placeholders.length === 0 ? (
          <span className="none">none</span>
        ) : (
          <code>{placeholders.map((name) => `{${name}}`).join(' ')}</code>
        ),
    },
    ...(onTake
      ? [
          {
            id: 'take',
            head: 'own words',
            cell: ({ key, text }: BuiltIn) =>
              own.has(key) ? (
                <Badge>replaced</Badge>
              ) : (
                <Button small aria-label={`Replace ${key}`} onPress={() => onTake(key, text)}>
                  Replace
                </Button>
              ),
          },
        ]
      : []),
  ];
  return (
    <Panel
      title="Built-in texts"
      lead="All that the pages say, unless the realm has words of its own above."
      plain
      actions={<AsCommand quiet commands={() => ({ curl: curlOf(listBuiltInTexts, { realm }, undefined, query) })} />}
    >
      <div className="content list-tools">
        <Find label="Find built-in texts" value={sought} onChange={setSought} />
      </div>
      {texts.error && <ProblemNote problem={texts.error} retry={() => void texts.refetch()} />}
      {!texts.data && !texts.error && <Loading lines={6} />}
      {texts.data && (
        <>
          <Table
            label="Built-in texts"
            rows={texts.data.body ?? []}
            columns={columns}
            idOf={({ key }) => key}
            stale={texts.isPlaceholderData}
            empty={<Empty icon="search" title="No built-in text matches" />}
          />
          {texts.data.nextCursor !== undefined && (
            <p className="content soft">There are more: find them by a word of the text or its key.</p>
          )}
        </>
      )}
    </Panel>
  );
}
