// A user, chosen from a search on the server; what is kept is the id.
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getUser, listUsers } from '../../generated/routes.ts';
import type { FieldProps } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useLater } from '../../ui/later.ts';
import { fullName, type User } from './words.ts';

const SHOWN = 20;

export function UserField({
  realm,
  label,
  help,
  fault,
  value,
  onChange,
}: FieldProps & { realm: string; value: string | null; onChange: (userId: string | null) => void }) {
  const may = useMay();
  const chosen = useRead(getUser, { params: { realm, userId: value ?? '' } }, { enabled: value !== null });
  const name = value === null ? '' : (chosen.data?.body?.username ?? '…');
  /** undefined: nothing is typed since the last choice. */
  const [typed, setTyped] = useState<string>();
  const q = useLater(typed ?? '').trim();
  const found = useRead(
    listUsers,
    { params: { realm }, query: { limit: SHOWN, ...(q !== '' && { q }) } },
    { enabled: may.partly(realm, 'users:read'), keep: true },
  );
  return (
    <ComboBox
      className="field"
      menuTrigger="focus"
      inputValue={typed ?? name}
      onInputChange={(text) => {
        if (text === name) return;
        setTyped(text);
        if (text === '') onChange(null);
      }}
      value={value}
      onChange={(key) => {
        setTyped(undefined);
        if (key !== null) onChange(String(key));
      }}
      items={found.data?.body ?? []}
      defaultFilter={() => true}
      isInvalid={fault !== undefined}
    >
      <Label>{label}</Label>
      <div className="combo">
        <Input className="input" placeholder="Find a user" dir="auto" />
        <AriaButton className="button quiet icon small" aria-label={`Choices of ${label}`}>
          <Icon name="chevron" size={14} />
        </AriaButton>
      </div>
      {help && <span className="hint">{help}</span>}
      {fault && <span className="fault">{fault}</span>}
      <Popover className="popover" offset={4}>
        <ListBox
          className="menu"
          aria-label="Users"
          renderEmptyState={() => <p className="hint menu-heading">Nothing found</p>}
        >
          {(user: User) => (
            <ListBoxItem id={user.id} textValue={user.username} className="menu-item">
              <span>
                <bdi>{user.username}</bdi>
                <small>
                  <bdi>{fullName(user) || user.email}</bdi>
                </small>
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
