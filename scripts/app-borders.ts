/** The folders of the dashboard app, each with the folders of the app that it may import. */
export const APP_FOLDERS: Record<string, readonly string[]> = {
  format: ['look'],
  look: [],
  keys: ['look'],
  api: ['format', 'look'],
  live: ['api', 'format', 'look'],
  parts: ['format', 'look', 'keys'],
  viewer: ['live', 'api', 'parts', 'format', 'look', 'keys'],
  features: ['viewer', 'live', 'api', 'parts', 'format', 'look', 'keys'],
  routes: ['features', 'viewer', 'live', 'api', 'parts', 'format', 'look', 'keys'],
};

/** The imports that the linter must refuse in the files of a folder. */
export function forbiddenInApp(folder: string): { regex: string; message: string }[] {
  const allowed = APP_FOLDERS[folder] ?? [];
  const closed = Object.keys(APP_FOLDERS).filter((other) => other !== folder && !allowed.includes(other));
  const up = folder === 'features' ? String.raw`\.\./\.\./` : String.raw`\.\./`;
  const patterns = [
    { regex: String.raw`^(?:\.\./){3,}(?!.*schema\.graphql)`, message: 'The app imports nothing of the service.' },
  ];
  if (closed.length > 0) {
    const message = `${folder} may import ${allowed.join(', ') || 'nothing'}.`;
    patterns.push({ regex: `^${up}(?:${closed.join('|')})/`, message });
  }
  if (folder === 'features') {
    patterns.push({
      regex: String.raw`^\.\./[a-z]`,
      message: 'Features never import one another: they meet in routes, by URL.',
    });
  }
  return patterns;
}
