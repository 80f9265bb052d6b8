// A page of the realm as it would be with branding and texts that are not saved: rendered by the server, a moment after the last key.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import { type PagePreviewInput, previewedPages } from '../../../server/contract/page-preview.ts';
import { call, type OutputOf, type ServerProblem } from '../../api/client.ts';
import { previewPage } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { jsonText, word } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { useLater } from '../../ui/later.ts';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { languageName } from './languages.ts';
import { PageFrame } from './page-frame.tsx';
import { useView, ViewBar } from './views.tsx';

type Page = PagePreviewInput['page'];
const labels: Readonly<Record<Page, string>> = { 'sign-in': 'Sign-in', consent: 'Consent', account: 'Account' };

/** `realmctl preview page` with the look on its standard input. */
const previewCommand = (realm: string, page: Page, look: object): string =>
  `realmctl preview page ${page} -r ${word(realm)} -f - > page.html <<'END'\n${jsonText(look)}\nEND`;

type Unsaved = Pick<PagePreviewInput, 'branding' | 'texts'>;

/** @param locales the languages to choose from; with one alone there is no choice */
export function PagePreview({
  realm,
  unsaved,
  locales,
}: {
  realm: string;
  unsaved: Unsaved;
  locales: readonly string[];
}) {
  const filters = useFilters();
  const { view } = useView();
  const page = previewedPages.find((one) => one === filters.get('page')) ?? 'sign-in';
  const locale = locales.find((tag) => tag === filters.get('locale')) ?? locales[0];
  const body: PagePreviewInput = {
    page,
    ...unsaved,
    ...(locale !== undefined && { locale }),
    scheme: view.scheme,
    ...(view.isRightToLeft && { rightToLeft: true }),
  };
  // one text, so that all of it is asked for together
  const asked = useLater(JSON.stringify(body));
  const rendered = useQuery<OutputOf<typeof previewPage> | undefined, ServerProblem>({
    queryKey: [realm, 'page-preview', asked],
    queryFn: async ({ signal }) =>
      (await call(previewPage, { params: { realm }, body: JSON.parse(asked), signal })).body,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  // while something can't be rendered, the page before stays
  const last = useRef<string>(undefined);
  const html = rendered.data?.html ?? last.current;
  useEffect(() => {
    last.current = html;
  }, [html]);
  const name = `${labels[page]} page in ${view.scheme} colours`;
  return (
    <div className="preview">
      <div className="row view-bar">
        <div className="row">
          {previewedPages.map((one) => (
            <ToggleButton
              key={one}
              className="button small"
              isSelected={one === page}
              onChange={() => filters.set({ page: one === 'sign-in' ? undefined : one })}
            >
              {labels[one]}
            </ToggleButton>
          ))}
        </div>
        <AsCommand
          quiet
          commands={() => ({
            realmctl: previewCommand(realm, page, { ...body, page: undefined }),
            curl: curlOf(previewPage, { realm }, body),
          })}
        />
      </div>
      <ViewBar />
      {locales.length > 1 && (
        <Select
          label="Language of the preview"
          value={locale ?? null}
          onChange={(tag) => filters.set({ locale: tag === locales[0] ? undefined : (tag ?? undefined) })}
          options={locales.map((tag) => ({ id: tag, label: languageName(tag) }))}
        />
      )}
      {rendered.error && <ProblemNote problem={rendered.error} />}
      {html !== undefined ? (
        <PageFrame html={html} name={name} size={view.isPhone ? 'phone' : page === 'account' ? 'wide' : 'desktop'} />
      ) : (
        !rendered.error && <Loading lines={8} label="Rendering the page" />
      )}
    </div>
  );
}
