// The way from the languages of the realm to the setting that lists them.
import { Link } from 'wouter';
import { useMay } from '../../api/session.ts';
import { inRealm } from '../../shell/addresses.ts';

export function MoreLanguages({ realm }: { realm: string }) {
  const may = useMay();
  if (!may(realm, 'settings:write')) return null;
  return <Link href={`${inRealm(realm, 'settings')}?group=general`}>Other languages</Link>;
}
