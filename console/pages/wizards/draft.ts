// The answers of a wizard survive a reload: in the tab’s own storage, without secrets. A secret that the server shows once stays in
// memory until the tab is closed or loaded anew.
import { useState } from 'react';
import type { Answers } from './asks.tsx';

const PREFIX = 'realmkeeper.wizard';

function read(place: string): Answers {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(place) ?? '{}');
    return typeof kept === 'object' && kept !== null && !Array.isArray(kept) ? { ...kept } : {};
  } catch {
    return {};
  }
}

/** @param isSecret names of answers that are not stored */
export function useDraft(realm: string, wizard: string, isSecret: (name: string) => boolean) {
  const place = `${PREFIX}.${realm}.${wizard}`;
  const [answers, setAnswers] = useState<Answers>(() => read(place));
  const answer = (name: string, value: unknown) =>
    setAnswers((before) => {
      const now = { ...before, [name]: value };
      sessionStorage.setItem(
        place,
        JSON.stringify(Object.fromEntries(Object.entries(now).filter(([of]) => !isSecret(of)))),
      );
      return now;
    });
  const clear = () => {
    sessionStorage.removeItem(place);
    setAnswers({});
  };
  return { answers, answer, clear };
}

const secrets = new Map<string, string>();
/** Keeps a secret that is shown once, for the last step. @param of what it belongs to */
export const keepSecret = (realm: string, of: string, secret: string): void =>
  void secrets.set(`${realm} ${of}`, secret);
export const keptSecret = (realm: string, of: string): string | undefined => secrets.get(`${realm} ${of}`);

/** 256 random bits, as base64url. */
export function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
