const RULES = `
:host { display: block; font: inherit; color: inherit; }
:host([hidden]), [hidden] { display: none !important; }
[part~=frame] {
  display: grid; place-content: center; gap: var(--darkroom-gap, .5rem); box-sizing: border-box; max-inline-size: 100%;
  min-block-size: 6rem; padding: 1rem; text-align: center; border-radius: var(--darkroom-radius, .5rem);
  background: var(--darkroom-surface, color-mix(in srgb, currentColor 6%, transparent));
}
[part~=frame] p { margin: 0; }
[part~=progress] { inline-size: min(16rem, 100%); accent-color: var(--darkroom-accent, auto); justify-self: center; }
[part~=percent] { font-variant-numeric: tabular-nums; }
[part~=failure] { color: var(--darkroom-danger, inherit); }
[part~=code] { font-size: .875em; overflow-wrap: anywhere; }
[part~=again] { justify-self: center; font: inherit; min-block-size: 2.75rem; padding-inline: 1rem; }
[part~=outputs] {
  display: grid; gap: var(--darkroom-gap, .5rem);
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr));
}
[part~=output] { display: block; inline-size: 100%; block-size: auto; border-radius: var(--darkroom-radius, .5rem); }
[part~=announcement] { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
`;

let sheet: CSSStyleSheet | undefined;

/**
 * One style sheet for all `<darkroom-task>` elements of the page. A script makes it, because the content security
 * policy of the page may forbid inline styles.
 */
export function sharedSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(RULES);
  }
  return sheet;
}
