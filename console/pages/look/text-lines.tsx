// Texts as lines of a key and words, in the order of their keys.
import { useId } from 'react';
import { useSearchParams } from 'wouter';
import { Button, IconButton } from '../../ui/button.tsx';
import { Find } from '../../ui/find.tsx';

export interface Line {
  /** Its place in the form; keys are still being written. */
  id: number;
  key: string;
  text: string;
}

let last = 0;
const nextId = (): number => {
  last += 1;
  return last;
};
export const lineOf = (key: string, text: string): Line => ({ id: nextId(), key, text });
export const linesOf = (texts: unknown): Line[] =>
  Object.entries(Object(texts))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, text]) => lineOf(key, String(text)));
export const textsOf = (lines: readonly Line[]): Record<string, string> =>
  Object.fromEntries(
    lines.filter(({ key, text }) => key.trim() !== '' || text !== '').map(({ key, text }) => [key.trim(), text]),
  );

export function TextLines({
  lines,
  onChange,
  faults,
  isDisabled,
}: {
  lines: readonly Line[];
  onChange: (lines: readonly Line[]) => void;
  faults: ReadonlyMap<string, string>;
  isDisabled: boolean;
}) {
  const base = useId();
  const [search, setSearch] = useSearchParams();
  const sought = search.get('q') ?? '';
  const find = (text: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (text === '') next.delete('q');
        else next.set('q', text);
        return next;
      },
      { replace: true },
    );
  const fits = ({ key, text }: Line) => `${key} ${text}`.toLowerCase().includes(sought.toLowerCase()) || key === '';
  const shown = lines.filter(fits);
  const change = (id: number, part: Partial<Line>) =>
    onChange(lines.map((line) => (line.id === id ? { ...line, ...part } : line)));
  const add = () => {
    const line = lineOf('', '');
    onChange([...lines, line]);
    setTimeout(() => document.getElementById(`${base}-${line.id}`)?.focus());
  };
  return (
    <div className="form-group">
      {lines.length > 8 && <Find label="Find texts" value={sought} onChange={find} />}
      {lines.length === 0 && <p className="soft">The language has no texts of the realm’s own.</p>}
      {lines.length > 0 && shown.length === 0 && <p className="soft">No text matches.</p>}
      <ul className="text-lines">
        {shown.map(({ id, key, text }) => {
          const fault = faults.get(`texts.${key.trim()}`);
          return (
            <li key={id}>
              <input
                id={`${base}-${id}`}
                className="input mono"
                value={key}
                placeholder="password.title"
                aria-label="Key"
                aria-invalid={fault !== undefined || undefined}
                aria-describedby={fault === undefined ? undefined : `${base}-${id}-fault`}
                disabled={isDisabled}
                spellCheck={false}
                autoComplete="off"
                onChange={({ target }) => change(id, { key: target.value })}
              />
              <textarea
                className="input"
                dir="auto"
                rows={Math.min(6, Math.max(1, Math.ceil(text.length / 70)))}
                value={text}
                aria-label={key === '' ? 'Text' : `Text of ${key}`}
                disabled={isDisabled}
                onChange={({ target }) => change(id, { text: target.value })}
              />
              {!isDisabled && (
                <IconButton
                  label={key === '' ? 'Remove the line' : `Use the built-in text of ${key}`}
                  icon="close"
                  onPress={() => onChange(lines.filter((line) => line.id !== id))}
                />
              )}
              {fault !== undefined && (
                <span className="fault" id={`${base}-${id}-fault`}>
                  {fault}
                </span>
              )}
            </li>
          );
        })}
      </ul>
      {!isDisabled && (
        <div>
          <Button small icon="add" onPress={add}>
            Add a text
          </Button>
        </div>
      )}
    </div>
  );
}
