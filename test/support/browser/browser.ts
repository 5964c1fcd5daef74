import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/**
 * The browsers to look for. The headless shell comes first, because it is the same engine without a window and takes
 * two thirds of the processor time of a page.
 */
const CANDIDATES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const executablePath = CANDIDATES.find((path) => path && existsSync(path));

/** The browser sends nothing to its vendor. It has no sandbox of its own, because containers often run as root. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Declares tests that run in a real Chromium. Without Chromium they are skipped, unless DARKROOM_TEST_BROWSER=required.
 */
export function describeInBrowser(name: string, tests: () => void): void {
  if (executablePath) {
    return void describe(name, () => {
      tests();
      // The browsers are closed here and not by the test file: if the service did not start, the file never got its
      // browser, and an open browser keeps the run from ending.
      afterAll(() => Promise.all(launched.splice(0).map((browser) => browser.close())));
    });
  }
  if (process.env.DARKROOM_TEST_BROWSER === 'required') {
    return void it(`${name}: needs Chromium`, () => {
      throw new Error('No Chromium was found. Install one, or set CHROMIUM_PATH.');
    });
  }
  process.stderr.write(`SKIPPED: ${name}: no Chromium was found. Install one, or set CHROMIUM_PATH.\n`);
  describe.skip(name, tests);
}

const launched: Browser[] = [];

export async function launch(): Promise<Browser> {
  const browser = await chromium.launch({ args: ARGS, ...(executablePath && { executablePath }) });
  launched.push(browser);
  return browser;
}
