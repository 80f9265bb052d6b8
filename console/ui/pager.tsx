// Keyset paging: the next page has a cursor, which is in the address; "back" goes to the page before.
import { ButtonLink } from './button.tsx';

export function Pager({
  shown,
  total,
  first,
  next,
}: {
  /** How many rows this page has. */
  shown: number;
  total: number | undefined;
  /** The address of the first page; undefined: this is it. */
  first: string | undefined;
  next: string | undefined;
}) {
  if (first === undefined && next === undefined && total === undefined) return null;
  return (
    <div className="pager">
      <span>{total !== undefined ? `${total.toLocaleString('en')} in all` : `${shown} on this page`}</span>
      <span className="row">
        {first !== undefined && (
          <ButtonLink to={first} small>
            First page
          </ButtonLink>
        )}
        {next !== undefined && (
          <ButtonLink to={next} small>
            Next page
          </ButtonLink>
        )}
      </span>
    </div>
  );
}
