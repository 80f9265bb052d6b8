// Three long texts beside each other: mine and theirs as CodeMirror compares them, and what both began with. In a shadow root,
// as the editor (code-mirror.tsx).
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';

const sheet = new CSSStyleSheet();
sheet.replaceSync(`.cm-mergeView { max-height: 24rem; overflow: auto; font-size: .8125rem; }
.cm-deletedChunk, .cm-changedLine { background: var(--gone-back) !important; } .cm-merge-b .cm-changedLine { background: var(--add-back) !important; }
.cm-changedText { background: none !important; text-decoration: underline; }`);

export function MergeText({
  label,
  mine,
  theirs,
  base,
}: {
  label: string;
  mine: string;
  theirs: string;
  base: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [against, setAgainst] = useState<'theirs' | 'base'>('theirs');
  const other = against === 'theirs' ? theirs : base;
  useEffect(() => {
    const host = place.current;
    if (!host) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const side = (doc: string, name: string) => ({
      doc,
      extensions: [
        EditorState.readOnly.of(true),
        EditorView.lineWrapping,
        EditorView.theme({ '&': { color: 'var(--text)' }, '.cm-content': { fontFamily: 'var(--mono)' } }),
        EditorView.contentAttributes.of({ 'aria-label': name }),
      ],
    });
    const view = new MergeView({
      a: side(other, `${label}, ${against === 'theirs' ? 'as it is now' : 'as it was'}`),
      b: side(mine, `${label}, yours`),
      parent: root,
      root,
      collapseUnchanged: { margin: 3 },
    });
    root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((one) => one !== sheet), sheet];
    return () => view.destroy();
  }, [label, mine, other, against]);
  return (
    <div className="stack tight">
      <div className="row between">
        <span className="soft small">
          {against === 'theirs' ? 'As it is now' : 'As it was'} at the start, yours at the end
        </span>
        <Button small onPress={() => setAgainst(against === 'theirs' ? 'base' : 'theirs')}>
          Compare with what {against === 'theirs' ? 'it was' : 'it is now'}
        </Button>
      </div>
      <div className="editor" ref={place} />
    </div>
  );
}
