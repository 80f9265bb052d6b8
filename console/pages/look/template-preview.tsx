// A message as the user would get it: rendered by the server with a sample, a moment after the last key.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { TemplateKey } from '../../../server/contract/message-keys.ts';
import { call, type OutputOf, type ServerProblem } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { useLater } from '../../ui/later.ts';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { isRightToLeft } from './languages.ts';
import { MailBody } from './mail-body.tsx';
import { sampleFor } from './message-words.ts';
import { useView, ViewBar } from './views.tsx';

interface Props {
  realm: string;
  templateKey: TemplateKey;
  locale: string;
  subject: string | null;
  body: string;
  html: boolean;
}
type Rendered = OutputOf<typeof api.previewMessageTemplate>;

export function TemplatePreview({ realm, templateKey, locale, subject, body, html }: Props) {
  const may = useMay();
  const mayPreview = may(realm, 'messaging:write');
  const { view } = useView();
  const endpoints = useRead(api.getEndpoints, { params: { realm } }, { enabled: may(realm, 'realm:read') });
  const base = endpoints.data?.body?.account.replace(/\/account$/, '') ?? `${location.origin}/realms/${realm}`;
  // one text, so that all of it is asked for together
  const asked = useLater(JSON.stringify({ subject, body, html }));
  const rendered = useQuery<Rendered | undefined, ServerProblem>({
    queryKey: [realm, 'message-preview', templateKey, locale, base, asked],
    enabled: mayPreview && body !== '',
    queryFn: async ({ signal }) => {
      const typed: Pick<Props, 'subject' | 'body' | 'html'> = JSON.parse(asked);
      const answer = await call(api.previewMessageTemplate, {
        params: { realm },
        body: { templateKey, locale, sample: sampleFor(base), ...typed },
        signal,
      });
      return answer.body;
    },
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  return (
    <div className="beside-fixed">
      <Panel
        title="What a person gets"
        lead="With a sample, saved or not. Links lead nowhere here, and no picture is loaded."
        plain
      >
        <div className="preview">
          <ViewBar />
          {!mayPreview && <Note>The preview needs the permission messaging:write.</Note>}
          {rendered.error ? (
            <ProblemNote problem={rendered.error} />
          ) : rendered.data ? (
            <div
              className={['mail', view.scheme, view.isPhone && 'phone'].filter(Boolean).join(' ')}
              dir={view.isRightToLeft || isRightToLeft(locale) ? 'rtl' : 'ltr'}
              lang={locale}
            >
              {rendered.data.subject !== null && <p className="mail-subject">{rendered.data.subject}</p>}
              {rendered.data.html ? (
                <MailBody html={rendered.data.body} />
              ) : (
                <p className="mail-text">{rendered.data.body}</p>
              )}
            </div>
          ) : (
            mayPreview && <Loading lines={5} />
          )}
        </div>
      </Panel>
    </div>
  );
}
