// The menu of the signed-in administrator: who they are, appearance, signing out.
import { Button as AriaButton } from 'react-aria-components/Button';
import { Header } from 'react-aria-components/Header';
import { Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Separator } from 'react-aria-components/Separator';
import { openOwnAccount } from '../api/client.ts';
import { useWrite } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { adminLogout } from '../generated/routes.ts';
import { Icon } from '../ui/icons.tsx';
import { chooseDirection, chooseTheme, type Theme, useDirection, useTheme } from './appearance.ts';
import { leaveEverywhere } from './leaving.ts';

const themes: readonly [Theme, string][] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export function AccountMenu() {
  const { name, realm } = useSession();
  const theme = useTheme();
  const direction = useDirection();
  const signOut = useWrite(adminLogout);
  return (
    <MenuTrigger>
      <AriaButton className="button quiet icon" aria-label={`Account of ${name}`}>
        <span className="avatar" aria-hidden="true">
          {name.slice(0, 1)}
        </span>
      </AriaButton>
      <Popover className="popover" placement="bottom end" offset={4}>
        <Menu className="menu" aria-label="Account">
          <MenuSection>
            <Header className="menu-heading">
              <bdi>{name}</bdi> of the realm {realm}
            </Header>
            <MenuItem className="menu-item" onAction={() => void openOwnAccount()}>
              <Icon name="user" />
              Account page
            </MenuItem>
            <MenuItem className="menu-item" href={`${location.origin}/swagger-ui.html`}>
              <Icon name="code" />
              API documentation
            </MenuItem>
          </MenuSection>
          <Separator />
          <MenuSection
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[theme]}
            onSelectionChange={(keys) => {
              for (const key of keys) chooseTheme(key === 'light' || key === 'dark' ? key : 'system');
            }}
          >
            <Header className="menu-heading">Colours</Header>
            {themes.map(([id, words]) => (
              <MenuItem key={id} id={id} className="menu-item">
                {words}
              </MenuItem>
            ))}
          </MenuSection>
          <MenuSection>
            <Header className="menu-heading">Layout</Header>
            <MenuItem className="menu-item" onAction={() => chooseDirection(direction === 'rtl' ? 'ltr' : 'rtl')}>
              {direction === 'rtl' ? 'Left to right' : 'Right to left'}
            </MenuItem>
          </MenuSection>
          <Separator />
          <MenuItem className="menu-item" onAction={() => signOut.mutate({}, { onSettled: leaveEverywhere })}>
            <Icon name="signOut" />
            Sign out
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
