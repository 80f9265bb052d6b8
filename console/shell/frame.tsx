// The frame around every page: the bar at the top, the navigation at the side, the page.
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Link, useLocation } from 'wouter';
import { Button, IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Navigation } from './navigation.tsx';
import { PaletteToCome } from './palette-to-come.tsx';
import { RealmChooser } from './realm-chooser.tsx';

const loadPalette = () => import('./palette.tsx');
const Palette = lazy(loadPalette);
const PALETTE_MS = 1500;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

export function Frame({ children }: { children: ReactNode }) {
  const [searches, setSearches] = useState(false);
  /** The letters that were typed before the palette was there. */
  const [early, setEarly] = useState('');
  const opener = useRef<Element>(null);
  const [drawer, setDrawer] = useState(false);
  const [path] = useLocation();
  // usually it is there before it is opened
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette(), PALETTE_MS);
    return () => clearTimeout(timer);
  }, []);
  const openPalette = () => {
    opener.current = document.activeElement;
    setSearches(true);
  };
  const closePalette = () => {
    setSearches(false);
    setEarly('');
    // the palette itself gives the focus back to the field that it replaced, which is gone
    requestAnimationFrame(() => {
      if (document.activeElement === document.body && opener.current instanceof HTMLElement) opener.current.focus();
    });
  };
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k')
        return;
      event.preventDefault();
      openPalette();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes at each navigation
  useEffect(() => setDrawer(false), [path]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <div className="shell">
        <header className="bar">
          <IconButton label="Navigation" icon="menu" className="toggle" onPress={() => setDrawer(true)} />
          <Link href="/" className="mark" aria-label="Realmkeeper, all realms">
            <Icon name="realm" size={20} />
            <span>Realmkeeper</span>
          </Link>
          <span className="slash" aria-hidden="true">
            /
          </span>
          <RealmChooser />
          <div className="spread">
            <Button className="find" onPress={openPalette} aria-keyshortcuts="Control+K Meta+K">
              <span>
                <Icon name="search" />
                <span className="word">Search…</span>
              </span>
              <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
            </Button>
            <AccountMenu />
          </div>
        </header>
        <aside className="side">
          <nav aria-label="Main">
            <Navigation />
          </nav>
        </aside>
        <main className="main" id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <ModalOverlay className="veil drawers" isOpen={drawer} onOpenChange={setDrawer} isDismissable>
        <Modal className="drawer">
          <AriaDialog aria-label="Navigation">
            <nav aria-label="Main">
              <Navigation onFollow={() => setDrawer(false)} />
            </nav>
          </AriaDialog>
        </Modal>
      </ModalOverlay>
      {searches && (
        <Suspense fallback={<PaletteToCome text={early} onText={setEarly} onClose={closePalette} />}>
          <Palette start={early} onClose={closePalette} />
        </Suspense>
      )}
    </>
  );
}
