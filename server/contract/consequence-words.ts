// Describes in words the users, sessions and clients that a plan affects: for the operator's events and statuses, and for realmctl.
import type { Consequence, Plan } from './transfer.ts';

const counted = (n: number, one: string, many: string): string[] => (n === 0 ? [] : [`${n} ${n === 1 ? one : many}`]);

/** `client web: sign-ins no longer return to https://… (2 live sessions, 1 person, 1 client)` */
export function consequenceText({ kind, key, path, message, sessions, people, clients }: Consequence): string {
  const touched = [
    ...counted(sessions, 'live session', 'live sessions'),
    ...counted(people, 'person', 'people'),
    ...counted(clients, 'client', 'clients'),
  ];
  return `${kind} ${path ?? key}: ${message} (${touched.join(', ')})`;
}

/** What touches somebody. */
export const consequencesWithNumbers = ({ consequences }: Plan): Consequence[] =>
  consequences.filter(({ sessions, people, clients }) => sessions + people + clients > 0);
