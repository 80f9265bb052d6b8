// CodeMirror in a shadow root (editor.tsx loads it when it is shown).
import { css } from '@codemirror/lang-css';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { minimalSetup } from 'codemirror';
import { useEffect, useRef } from 'react';
import { highlight } from './highlight.ts';

export interface EditorProps {
  /** The name of the text, for screen readers. */
  label: string;
  value: string;
  onChange?: (value: string) => void;
  language: 'json' | 'yaml' | 'css' | 'text';
  isReadOnly?: boolean;
  isInvalid?: boolean;
}

const languages = { json: () => json(), yaml: () => yaml(), css: () => css(), text: () => [] };

/** The console's own colours; custom properties reach into the shadow root. */
const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--field)', fontSize: '.8125rem' },
  '&.cm-focused': { outline: '2px solid var(--link)', outlineOffset: '-2px' },
  '.cm-content': { fontFamily: 'var(--mono)', padding: '.5rem 0', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-scroller': { maxHeight: '28rem', minHeight: '5rem', lineHeight: '1.5' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--chosen) !important',
  },
});

export default function CodeMirror({ label, value, onChange, language, isReadOnly = false }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text comes in below; another one must not build the editor anew
  useEffect(() => {
    const host = place.current;
    if (!host) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          highlight,
          minimalSetup,
          languages[language](),
          theme,
          EditorView.lineWrapping,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': label, role: 'textbox', 'aria-multiline': 'true' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [language, isReadOnly, label]);
  useEffect(() => {
    const now = view.current;
    if (now && now.state.doc.toString() !== value)
      now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={place} />;
}
