// A user of the realm: a combo box that searches by username, name and e-mail address on the server, and holds the user's id.
import { useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import type { OutputOf } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { getUser, listUsers } from '../generated/routes.ts';
import { ComboInput } from '../ui/combo-input.tsx';
import type { FieldProps } from '../ui/fields.tsx';
import { useLater } from '../ui/later.ts';

export type FoundUser = OutputOf<typeof listUsers>[number];
const SHOWN = 20;

const fullName = ({ firstName, lastName, email }: FoundUser): string =>
  [[firstName, lastName].filter(Boolean).join(' '), email].filter(Boolean).join(' · ');

export function UserField({
  realm,
  value,
  onChange,
  label,
  help,
  fault,
  isDisabled,
}: FieldProps & {
  realm: string;
  /** The user's id. */
  value: string | null;
  onChange: (id: string | null, user: FoundUser | undefined) => void;
}) {
  const may = useMay();
  const mayRead = may.partly(realm, 'users:read');
  const [text, setText] = useState<string>();
  const q = useLater(text ?? '');
  const found = useRead(
    listUsers,
    { params: { realm }, query: { limit: SHOWN, ...(q !== '' && { q }) } },
    { enabled: mayRead, keep: true },
  );
  const chosen = useRead(
    getUser,
    { params: { realm, userId: value ?? '' } },
    { enabled: mayRead && value !== null && text === undefined },
  );
  const held = chosen.data?.body;
  const [picked, setPicked] = useState<FoundUser>();
  const current = [held, picked].find((user) => user !== undefined && user.id === value);
  const rows = found.data?.body ?? [];
  // the chosen user stays among the choices: a combo box forgets what it doesn't list
  const users = current && !rows.some(({ id }) => id === current.id) ? [...rows, current] : rows;
  return (
    <ComboBox
      className="field"
      menuTrigger="input"
      allowsEmptyCollection
      inputValue={text ?? (value === null ? '' : (current?.username ?? ''))}
      onInputChange={(typed) => {
        setText(typed);
        if (typed === '' && value !== null) onChange(null, undefined);
      }}
      value={value}
      onChange={(key) => {
        if (key === null) return;
        const user = users.find(({ id }) => id === key);
        setText(user?.username);
        setPicked(user);
        onChange(String(key), user);
      }}
      items={users}
      defaultFilter={() => true}
      isInvalid={fault !== undefined}
      isDisabled={isDisabled || !mayRead}
    >
      <Label>{label}</Label>
      <ComboInput label={label} placeholder="Find a user" />
      {help && <span className="hint">{help}</span>}
      {!mayRead && <span className="hint">Finding users needs the permission users:read.</span>}
      {fault && <span className="fault">{fault}</span>}
      <Popover className="popover" offset={4}>
        <ListBox<FoundUser>
          className="menu"
          aria-label="Users"
          renderEmptyState={() => <p className="hint menu-heading">No user is found</p>}
        >
          {(user) => (
            <ListBoxItem id={user.id} textValue={user.username} className="menu-item">
              <span>
                <bdi>{user.username}</bdi>
                <small dir="auto">{fullName(user)}</small>
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
