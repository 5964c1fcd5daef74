import type { Browser, BrowserContext, Page } from 'playwright-core';

/** For `evaluate` on a locator, which calls no function that is given as text. These tests are compiled without the types of a browser. */
export const HAS_FOCUS = (element: unknown): boolean =>
  element === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement;

/** The width in pixels of a picture that the browser has decoded. */
export async function decodedWidth(element: unknown): Promise<number> {
  const image = element as { decode(): Promise<void>; naturalWidth: number };
  await image.decode();
  return image.naturalWidth;
}

interface Options {
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
  reducedMotion?: boolean;
}

/** One browser profile at the dashboard. It notes everything that must not happen. */
export class Visitor {
  /** Console errors, page errors, violations of the policy, requests that leave the origin. */
  readonly problems: string[] = [];
  /** Paths of requests, in order. */
  readonly requests: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly baseUrl: string,
  ) {}

  static async open(
    browser: Browser,
    baseUrl: string,
    { theme = 'light', width = 1280, height = 860, reducedMotion = false }: Options = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({
      colorScheme: theme,
      viewport: { width, height },
      reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    const visitor = new Visitor(context, await context.newPage(), baseUrl);
    visitor.watch();
    return visitor;
  }

  private watch(): void {
    const { page, problems } = this;
    page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
    page.on('dialog', (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      // The first question of a page: whether it is signed in. Browsers log every 401.
      const isFirstQuestion = message.location().url.endsWith('/v1/session');
      if (message.type() === 'error' && !isFirstQuestion) problems.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      this.requests.push(`${request.method()} ${url.pathname}`);
      if (url.origin !== this.baseUrl && !['blob:', 'data:'].includes(url.protocol))
        problems.push(`left the origin: ${url.href}`);
    });
  }

  goto(path: string): Promise<unknown> {
    return this.page.goto(`${this.baseUrl}/app${path}`);
  }

  async signIn(key: string): Promise<void> {
    await this.goto('/sign-in');
    await this.page.locator('input[name=key]').fill(key);
    await this.page.keyboard.press('Enter');
    await this.page.waitForURL('**/app/create');
    await this.page.getByText('Live', { exact: true }).waitFor();
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
