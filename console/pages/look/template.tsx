// A message in one language: its words, beside what a person would get. The server renders what is typed, saved or not.
import { Link, useLocation, useSearchParams } from 'wouter';
import { messages, type TemplateKey } from '../../../server/contract/message-keys.ts';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { kindInSection } from '../../kinds/all.ts';
import { curlOf, realmManifest } from '../../kinds/commands.ts';
import type { KindEntry, Row } from '../../kinds/entry.ts';
import { useKind, useObject } from '../../kinds/loaded.ts';
import { holdableOf, ManagedBadge, managedOf } from '../../kinds/managed.tsx';
import { idOf } from '../../kinds/pages.tsx';
import { word } from '../../kinds/shell-words.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import type { PageProps } from '../page.ts';
import { lookAddress } from './frame.tsx';
import { languageName, localesOf } from './languages.ts';
import { channelWords, purposes } from './message-words.ts';
import { MoreLanguages } from './more-languages.tsx';
import { TemplateForm } from './template-form.tsx';

const isKey = (text: string): text is TemplateKey => Object.hasOwn(messages, text);

export default function TemplatePage({ params: { realm, templateKey = '' } }: PageProps) {
  if (!isKey(templateKey))
    return (
      <Page
        title="Message"
        crumbs={[
          { label: realm, to: realmAddress(realm) },
          { label: 'Messages', to: lookAddress(realm, 'messages') },
        ]}
      >
        <Empty
          title="There is no such message"
          actions={<ButtonLink to={lookAddress(realm, 'messages')}>All messages</ButtonLink>}
        />
      </Page>
    );
  const entry = kindInSection('messageTemplates');
  return entry && <Message realm={realm} entry={entry} templateKey={templateKey} />;
}

type Template = OutputOf<typeof api.listMessageTemplates>[number];

/** A template as a document has it. */
const declaredWords = ({ templateKey, channel, locale, subject, body, html, enabled }: Template): Row => ({
  templateKey,
  channel,
  locale,
  subject,
  body,
  html,
  enabled,
});

function Message({ realm, entry, templateKey }: { realm: string; entry: KindEntry; templateKey: TemplateKey }) {
  const may = useMay();
  const [path] = useLocation();
  const [search] = useSearchParams();
  const { channel } = messages[templateKey];
  const templates = useRead(api.listMessageTemplates, { params: { realm }, query: { limit: 1000 } });
  const settings = useRead(api.getSettings, { params: { realm } }, { enabled: may(realm, 'settings:read') });
  const own = (templates.data?.body ?? []).filter((one) => one.templateKey === templateKey);
  const locale = search.get('locale') ?? settings.data?.body?.defaultLocale ?? 'en';
  const all = [...new Set([...localesOf(settings.data?.body), ...own.map((one) => one.locale), locale])];
  const listed = own.find((one) => one.locale === locale);
  // alone it has the ETag by which it is saved
  const stored = useObject(entry, { realm, key: idOf(entry, { templateKey, channel, locale }) }, listed !== undefined);
  const kind = useKind(entry);
  const isReady =
    templates.data !== undefined && !settings.isLoading && (listed === undefined || stored.data !== undefined);
  const address = (tag: string) => {
    const query = new URLSearchParams(search);
    query.set('locale', tag);
    return `${path}?${query}`;
  };
  return (
    <Page
      title={purposes[templateKey]}
      lead={<code>{templateKey}</code>}
      badges={
        <>
          <Badge>{channelWords[channel]}</Badge>
          {listed && (
            <ManagedBadge
              managed={managedOf(stored.data?.body)}
              realm={realm}
              thing={{ ...holdableOf(entry, listed), write: entry.write }}
            />
          )}
        </>
      }
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: 'Look and texts', to: lookAddress(realm) },
        { label: 'Messages', to: lookAddress(realm, 'messages') },
      ]}
      actions={
        <AsCommand
          commands={async () => ({
            realmctl: `realmctl get message-templates -r ${word(realm)}`,
            curl: curlOf(api.previewMessageTemplate, { realm }, { templateKey, locale }),
            ...(own.length > 0 && {
              manifest: await realmManifest(realm, { messageTemplates: own.map(declaredWords) }),
            }),
          })}
        />
      }
    >
      {stored.error && <ProblemNote problem={stored.error} retry={() => void stored.refetch()} />}
      {templates.error && <ProblemNote problem={templates.error} retry={() => void templates.refetch()} />}
      <nav className="row" aria-label="Languages">
        {all.map((tag) => (
          <Link
            key={tag}
            href={address(tag)}
            className="button small"
            aria-current={tag === locale ? 'page' : undefined}
          >
            {languageName(tag)}
            {own.some((one) => one.locale === tag) ? '' : ' (built in)'}
          </Link>
        ))}
        <MoreLanguages realm={realm} />
      </nav>
      {isReady && kind ? (
        <TemplateForm
          key={`${locale} ${listed?.id ?? ''}`}
          realm={realm}
          entry={entry}
          kind={kind}
          templateKey={templateKey}
          locale={locale}
          read={listed && stored.data}
        />
      ) : (
        !templates.error && !stored.error && <Loading lines={8} />
      )}
    </Page>
  );
}
