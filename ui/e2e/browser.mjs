// Starts the built window on the made-up gate and a browser to look at it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { preview } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function start() {
  if (!existsSync(`${root}dist/index.html`)) throw new Error('There is no dist/: run `npm run build` first.');
  const server = await preview({ root, preview: { port: 0, strictPort: false }, logLevel: 'error' });
  const address = server.httpServer.address();
  const base = `http://localhost:${address.port}`;
  const executablePath = process.env.CHROMIUM ?? known.find((path) => existsSync(path));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--force-color-profile=srgb'] });
  return {
    base,
    browser,
    async stop() {
      await browser.close();
      await server.close();
    },
  };
}

/** A page of this size and theme, at this address; `problems` collects everything that the page complained about. */
export async function open({ base, browser }, { width, height, theme, query = '', hash = '' }) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(40_000);
  const problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content Security Policy/i.test(message.text())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith('data:'))
      problems.push(`asked for ${request.url()}`);
  });
  await page.goto(`${base}/${query}${hash}`);
  await page.waitForSelector('body[data-ready="1"]');
  return { page, problems, close: () => context.close() };
}

/** Answers the question that is asked, once it can be heard: in its first moment no answer counts. */
export async function answer(page, word) {
  await page.locator('[data-testid=question-yes][aria-disabled=false]').waitFor();
  await page.getByTestId(`question-${word}`).click();
}

/** Resolves when `check` says yes. */
export async function until(check, what, ms = 40_000) {
  const end = Date.now() + ms;
  for (;;) {
    if (await check()) return;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Resolves when the log stands still: scrolling by a wheel goes on for some frames after it. */
export function still(page) {
  return page.getByTestId('log').evaluate(async (log) => {
    const place = () => `${log.scrollTop} ${log.querySelector('[data-testid=row]')?.dataset.call}`;
    for (let [last, same] = [place(), 0]; same < 12;) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = place();
      same = now === last ? same + 1 : 0;
      last = now;
    }
  });
}

/**
 * Resolves when nothing on the page is on its way any more: two frames drawn, and every animation that ends has ended.
 * A toast that is still fading in has, for that moment, the contrast of a ghost.
 */
export function settled(page) {
  return page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const moving = () =>
      document.getAnimations().filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime));
    do {
      await frame();
      await frame();
      await Promise.allSettled(moving().map((one) => one.finished));
    } while (moving().some((one) => one.playState === 'running'));
  });
}
