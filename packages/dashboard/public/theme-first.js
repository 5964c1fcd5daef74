// Runs before the first paint, so that the page never flashes in the other theme.
(() => {
  let saved = {};
  try {
    saved = JSON.parse(localStorage.getItem('darkroom.look') ?? '{}') ?? {};
  } catch {
    // Storage is blocked or damaged: the theme of the system holds.
  }
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const theme = saved.theme === 'paper' || saved.theme === 'safelight' ? saved.theme : dark ? 'safelight' : 'paper';
  document.documentElement.dataset.theme = theme;
  // The sign-in stands alone: no frame of a shell is painted for it.
  if (location.pathname.endsWith('/sign-in')) document.documentElement.dataset.first = 'card';
  if (saved.density === 'compact' || saved.density === 'comfortable')
    document.documentElement.dataset.density = saved.density;
  if (saved.motion === 'reduced') document.documentElement.dataset.motion = 'reduced';
})();
