// Keyset paging: the next page has a cursor, which is in the address; "back" goes to the page before.
import { ButtonLink } from './button.tsx';
import { useFilters } from './filters.ts';

export function Pager({
  shown,
  total,
  nextCursor,
  filter = 'cursor',
}: {
  /** How many rows this page has. */
  shown: number;
  total?: number | undefined;
  /** From the answer's `Link` header. */
  nextCursor: string | undefined;
  /** The name of the cursor in the address, where the page has several lists. */
  filter?: string;
}) {
  const { get, address } = useFilters();
  const isFirst = get(filter) === '';
  // nothing is said below an empty list; an empty page behind others leads back to the first
  if (isFirst && nextCursor === undefined && !total) return null;
  return (
    <div className="pager">
      <span>{total !== undefined ? `${total.toLocaleString('en')} in all` : `${shown} on this page`}</span>
      <span className="row">
        {!isFirst && (
          <ButtonLink to={address({ [filter]: undefined })} small>
            First page
          </ButtonLink>
        )}
        {nextCursor !== undefined && (
          <ButtonLink to={address({ [filter]: nextCursor })} small>
            Next page
          </ButtonLink>
        )}
      </span>
    </div>
  );
}
