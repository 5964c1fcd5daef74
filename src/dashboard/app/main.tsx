import './look/fonts.css';
import './look/tokens.css';
import './look/base.css';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { followSystemTheme } from './look/theme.ts';
import { offer } from './parts/toasts.ts';
import { router } from './routes/router.ts';

// A part of an older build is gone: the page has to be read again. Drafts are in the storage of the tab.
addEventListener('vite:preloadError', () =>
  offer('Darkroom was updated.', { label: 'Reload', run: () => location.reload() }),
);
followSystemTheme();

const place = document.getElementById('app');
if (place) createRoot(place).render(<RouterProvider router={router} />);
