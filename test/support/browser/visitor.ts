import type { Browser, BrowserContext, Page } from 'playwright-core';

/**
 * For `evaluate` on a locator, which does not call functions that are given as text. The parameter has the type
 * unknown, because these tests are compiled without the types of a browser.
 */
export const HAS_FOCUS = (element: unknown): boolean =>
  element === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement;

/** The width in pixels of a picture, once the browser has decoded it. */
export async function decodedWidth(element: unknown): Promise<number> {
  const image = element as { decode(): Promise<void>; naturalWidth: number };
  await image.decode();
  return image.naturalWidth;
}

interface Options {
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
  /** Whether there are animations. The processor draws each of them, at sixty frames a second. */
  motion?: boolean;
  /** Whether the screen is a touch screen, which has no hover. */
  touch?: boolean;
  /** The time zone of the browser, such as `Asia/Kolkata`. */
  timezone?: string;
}

/** The limit for something that hangs. It is long, because the tests share two cores. */
const PATIENCE_MS = 60_000;

/** A browser profile that visits the dashboard. It records everything that must not happen. */
export class Visitor {
  /** Console errors, page errors, violations of the content policy, and requests to other origins. */
  readonly problems: string[] = [];
  /** Methods and paths of requests, in order. */
  readonly requests: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly baseUrl: string,
  ) {}

  static async open(
    browser: Browser,
    baseUrl: string,
    { theme = 'light', width = 1280, height = 860, motion = false, touch = false, timezone = 'UTC' }: Options = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({
      colorScheme: theme,
      viewport: { width, height },
      hasTouch: touch,
      isMobile: touch,
      reducedMotion: motion ? 'no-preference' : 'reduce',
      locale: 'en-GB',
      timezoneId: timezone,
    });
    context.setDefaultTimeout(PATIENCE_MS);
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
      // A page first asks whether it is signed in. A 401 is then no problem, but browsers log every 401 as an error.
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

  /** Signs in without the form, and opens Create. */
  async enter(key: string): Promise<void> {
    const { baseUrl } = this;
    const headers = { origin: baseUrl };
    const answer = await this.context.request.post(`${baseUrl}/v1/session`, { headers, data: { api_key: key } });
    if (!answer.ok()) throw new Error(`Not signed in: ${answer.status()} ${await answer.text()}`);
    await this.goto('/create');
    await this.page.getByText('Live', { exact: true }).waitFor();
  }

  /** Opens another screen without reloading the app, as the links of the app do. */
  async go(path: string): Promise<void> {
    await this.page.evaluate(
      `document.querySelector('h1')?.setAttribute('data-left', ''); history.pushState({}, '', '/app${path}')`,
    );
    await this.page.locator('h1:not([data-left])').first().waitFor();
  }

  /** Opens a drawer of Create. */
  async openDrawer(name: 'Settings' | 'Code' | 'History'): Promise<void> {
    const button = this.page.getByRole('button', { name, exact: true });
    await button.waitFor();
    if ((await button.getAttribute('aria-pressed')) !== 'true') await button.click();
    await this.page.getByRole('complementary', { name }).waitFor();
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
