import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

export const THEMES = ['light', 'dark'] as const;
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Runs all rules in the first theme. The themes differ only in colours, so in the other theme only the rules about
 * colours can have another result.
 */
export async function axeFaults(page: Page, theme: (typeof THEMES)[number]): Promise<string[]> {
  // Legacy mode opens no page of its own for each screen, which took most of the time. There are no frames.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
  const { violations } = await (
    theme === THEMES[0] ? axe.withTags(TAGS) : axe.withRules(['color-contrast', 'link-in-text-block'])
  ).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

/** The problems that axe finds on the page in its present state, in both themes. */
export async function axeFaultsInThemes(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    faults.push(...(await axeFaults(page, theme)).map((fault) => `${theme}: ${fault}`));
  }
  await page.emulateMedia({ colorScheme: THEMES[0] });
  return faults;
}
