import './look/fonts.css';
import './look/tokens.css';
import './look/base.css';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { followSystemTheme } from './look/theme.ts';
import { wasOutdated } from './api/outdated.ts';
import { report } from './parts/toasts.ts';
import { router } from './routes/router.ts';

// After a new build the router reads the page again for a screen that is gone, and the root route offers it for any
// other part. Drafts are in the storage of the tab, so nothing is lost; the new page says what happened.
if (wasOutdated()) report('Darkroom was updated.');
followSystemTheme();

const place = document.getElementById('app');
if (place) createRoot(place).render(<RouterProvider router={router} />);
