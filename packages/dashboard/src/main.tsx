import './look/fonts.css';
import './look/tokens.css';
import './look/base.css';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { followSystemTheme } from './look/theme.ts';
import { wasOutdated } from './api/outdated.ts';
import { report } from './parts/toasts.ts';
import { router } from './routes/router.ts';

// After a new build, a screen or another part of this page may be gone. For a screen the router reloads the page; for
// another part the root route offers a reload. Drafts are in the tab's storage, so nothing is lost. The new page says
// what happened.
if (wasOutdated()) report('Darkroom was updated.');
followSystemTheme();

const place = document.getElementById('app');
if (place) createRoot(place).render(<RouterProvider router={router} />);
