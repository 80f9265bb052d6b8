// A text editor for JSON, YAML and CSS, in a shadow root: CodeMirror then writes its styles as constructed sheets, which the
// console's policy permits.
import { lazy, Suspense } from 'react';
import type { EditorProps } from './code-mirror.tsx';
import { Loading } from './state.tsx';

const CodeMirror = lazy(() => import('./code-mirror.tsx'));

export function Editor(props: EditorProps) {
  return (
    <div className="editor" data-invalid={props.isInvalid || undefined}>
      <Suspense fallback={<Loading lines={3} />}>
        <CodeMirror {...props} />
      </Suspense>
    </div>
  );
}
