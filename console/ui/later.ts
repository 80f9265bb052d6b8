// A text as it was a moment ago: what is typed is asked for when the reader pauses.
import { useEffect, useState } from 'react';

const PAUSE_MS = 200;

export function useLater(text: string): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}
