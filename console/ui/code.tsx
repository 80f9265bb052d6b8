// Text to copy: a command, a manifest, a secret that is shown once.
import { useState } from 'react';
import { IconButton } from './button.tsx';
import { say } from './toast.tsx';

const COPIED_MS = 2000;

/** A page without https has no clipboard, and the reader may have refused it. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <IconButton
      label={copied ? 'Copied' : label}
      icon={copied ? 'check' : 'copy'}
      small
      onPress={() => {
        void copyText(text).then((isCopied) => {
          if (!isCopied) return say('The browser permits no copying here. Select the text, and copy it.', 'bad');
          setCopied(true);
          setTimeout(() => setCopied(false), COPIED_MS);
        });
      }}
    />
  );
}

/** @param label what it is, for the name of the button and of the region */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <section className="code" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by the keyboard too */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </section>
  );
}
