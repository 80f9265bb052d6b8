// The console's entry: the shell, into the page that the server gave.
import './styles/all.css';
import { createRoot } from 'react-dom/client';
import { App } from './shell/app.tsx';
import { applyTheme } from './shell/appearance.ts';
import { keepFocus } from './shell/kept-focus.ts';
import { leaveWithOthers } from './shell/leaving.ts';

applyTheme();
keepFocus();
leaveWithOthers();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
