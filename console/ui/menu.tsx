// A button with a menu of actions or links.
import type { ReactNode } from 'react';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Icon, type IconName } from './icons.tsx';

export interface Action {
  id: string;
  label: string;
  icon?: IconName;
  danger?: boolean;
  disabled?: boolean;
  /** At the end of the line, such as a check mark. */
  end?: ReactNode;
  /** An address of the console; else `onAction`. */
  to?: string;
  onAction?: () => void;
}

/** @param children the button */
export function ActionMenu({
  label,
  actions,
  children,
}: {
  label: string;
  actions: readonly Action[];
  children: ReactNode;
}) {
  return (
    <MenuTrigger>
      {children}
      <Popover className="popover" placement="bottom end" offset={4}>
        <Menu className="menu" aria-label={label}>
          {actions.map(({ id, label: words, icon, danger, disabled, end, to, onAction }) => (
            <MenuItem
              key={id}
              id={id}
              textValue={words}
              className={danger ? 'menu-item danger' : 'menu-item'}
              {...(disabled && { isDisabled: true })}
              {...(to !== undefined && { href: to })}
              {...(onAction && { onAction })}
            >
              {icon && <Icon name={icon} />}
              {words}
              {end && <span className="end">{end}</span>}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
