import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import sharp from 'sharp';

/**
 * Takes the screenshots of the README from a service that it starts with the sandbox, and writes them to docs/images.
 */

const ROOT = new URL('../', import.meta.url).pathname;
const IMAGES = `${ROOT}docs/images`;
const PORT = 31_873;
const BASE = `http://127.0.0.1:${PORT}`;
const MAX_BYTES = 200_000;
const START_MS = 60_000;
const SIZE = { width: 1280, height: 800 };
const PROMPTS: [prompt: string, ratio: string, n?: number][] = [
  ['Paper boats on a canal, top view', '4:3'],
  ['A brutalist library covered in ivy', '3:4'],
  ['Two kites over a salt flat at noon', '21:9'],
  ['Portrait of a clockmaker at his bench', '4:5'],
  ['Product photo of a ceramic teapot on linen', '1:1'],
  ['Isometric map of a small harbour town', '16:9'],
  ['A fox asleep in snow, macro photograph', '2:3', 2],
  ['Desert road under the Milky Way', '3:2'],
];

const data = mkdtempSync(join(tmpdir(), 'darkroom-shots-'));
const service = spawn(process.execPath, [`${ROOT}dist/main.js`], {
  env: { PATH: process.env.PATH, PORT: String(PORT), PUBLIC_URL: BASE, DATA_DIR: data, LOG_LEVEL: 'silent' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  mkdirSync(IMAGES, { recursive: true });
  const key = await firstKey();
  await seed(key);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const context = (options: BrowserContextOptions) =>
    browser.newContext({ viewport: SIZE, locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce', ...options });
  const light = await (await context({ colorScheme: 'light' })).newPage();
  await signIn(light, key);
  await generate(light, 'A lighthouse at dusk, oil on canvas, heavy clouds breaking over the sea');
  await light.getByRole('article').getByText('Succeeded').waitFor();
  await light.waitForTimeout(500);
  await shoot(light, 'create');
  await light.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await light.waitForTimeout(500);
  await shoot(light, 'create-dark');
  await light.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await light.goto(`${BASE}/app/gallery`);
  await light.locator('[data-file] img').nth(5).waitFor();
  for (const picture of await light.locator('[data-file] img').all())
    await picture.evaluate((image) => (image as unknown as { decode(): Promise<void> }).decode());
  await light.waitForTimeout(800);
  await shoot(light, 'gallery');

  const dark = await (await context({ colorScheme: 'dark' })).newPage();
  await signIn(dark, key);
  await dark.getByRole('button', { name: 'Settings', exact: true }).click();
  await dark.getByRole('combobox', { name: 'Model' }).selectOption('sora-2');
  await dark.getByRole('radiogroup', { name: 'Resolution' }).getByText('720P').click();
  await generate(dark, 'A train crosses a viaduct in morning fog, seen from a drone');
  await dark
    .getByRole('article')
    .getByText(/^Running/)
    .waitFor();
  await dark.getByRole('link', { name: 'Task', exact: true }).click();
  await dark
    .getByText(/^[2-9]\d %$/)
    .first()
    .waitFor();
  await shoot(dark, 'task');
  await browser.close();
} finally {
  service.kill();
  await new Promise((resolve) => service.once('exit', resolve));
  rmSync(data, { recursive: true, force: true });
}

/** The API key that the service prints at its first start. */
function firstKey(): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`The service did not start:\n${output}`)), START_MS);
    service.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const key = /dr_[0-9A-Za-z]{46}/.exec(output)?.[0];
      if (!key) return;
      clearTimeout(timer);
      resolve(key);
    });
  });
}

async function seed(key: string): Promise<void> {
  for (const [prompt, ratio, n = 1] of PROMPTS) {
    const response = await fetch(`${BASE}/v1/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=30' },
      body: JSON.stringify({ model: 'gpt-image-2', prompt, aspect_ratio: ratio, n }),
    });
    if (!response.ok) throw new Error(await response.text());
  }
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.goto(`${BASE}/app/`);
  await page.locator('input[name=key]').fill(key);
  await page.keyboard.press('Enter');
  await page.getByText('Live', { exact: true }).waitFor();
}

async function generate(page: Page, prompt: string): Promise<void> {
  await page.locator('textarea[name=prompt]').fill(prompt);
  await page.keyboard.press('Control+Enter');
}

async function shoot(page: Page, name: string): Promise<void> {
  const path = `${IMAGES}/${name}.webp`;
  await sharp(await page.screenshot())
    .webp({ quality: 86 })
    .toFile(path);
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; ${MAX_BYTES} are allowed.`);
  console.log(`docs/images/${name}.webp: ${size} bytes`);
}
