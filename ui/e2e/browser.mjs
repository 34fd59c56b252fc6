// A browser that looks at the built window, each time in a world of its own.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { World, past } from '../bridge/world.mjs';

const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function start() {
  await past();
  const executablePath = process.env.CHROMIUM ?? known.find((path) => existsSync(path));
  // Nothing here is drawn by a graphics processor; one process less for each that there is none.
  const args = ['--no-sandbox', '--force-color-profile=srgb', '--disable-gpu', '--in-process-gpu'];
  const browser = await chromium.launch({ executablePath, args });
  return {
    browser,
    /** Tabs that nobody looks at now. A new one costs as much as three checks. */
    idle: [],
    clipboard: Promise.resolve(),
    async stop() {
      await browser.close();
      await World.end();
    },
  };
}

/** A window of its own; `problems` collects everything that its page complains about. */
async function newTab({ browser }) {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  page.setDefaultTimeout(40_000);
  const tab = { context, page, world: null, problems: [] };
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content Security Policy/i.test(message.text()))
      tab.problems.push(message.text());
  });
  page.on('pageerror', (error) => tab.problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(tab.world.url) && !request.url().startsWith('data:'))
      tab.problems.push(`asked for ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    // Edits that a check leaves behind are asked about when the next one comes.
    if (dialog.type() !== 'beforeunload') tab.problems.push(`asked ${dialog.message()}`);
    void dialog.accept();
  });
  return tab;
}

/**
 * A page of this size and theme, at this address, in a world of its own; `problems` has everything that the page complained
 * about. What else is given says what the world is like.
 */
export async function open(env, { width, height, theme, hash = '', ...like }) {
  const tab = env.idle.pop() ?? (await newTab(env));
  const world = await World.make(like);
  const { page, context } = tab;
  tab.problems = [];
  tab.world = world;
  try {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    await page.goto(`${world.url}${hash}`, { waitUntil: 'commit' });
    await page.waitForSelector('body[data-ready="1"]');
  } catch (error) {
    await Promise.all([context.close(), world.stop()]);
    throw error;
  }
  const close = async () => {
    try {
      await page.mouse.move(-1, -1);
      await page.goto('about:blank');
      env.idle.push(tab);
    } catch {
      await context.close();
    }
    await world.stop();
  };
  return { page, problems: tab.problems, close, world };
}

/** A check on a page, which complains about nothing; where it fails, with what was to be seen. */
export async function visit(env, options, check) {
  const { page, problems, close, world } = await open(env, options);
  try {
    await check(page, world);
    assert.deepEqual(problems, []);
  } catch (error) {
    const seen = await page.evaluate(() => `${location.hash} ${document.body.innerText}`).catch(String);
    error.stack += `\n${[...problems, seen.replaceAll(/\s+/g, ' ').slice(0, 600)].join('\n')}`;
    throw error;
  } finally {
    await close();
  }
}

/** Does it while no other check does: there is one clipboard for all of them. */
export async function withClipboard(env, work) {
  const before = env.clipboard;
  const mine = before.then(work);
  env.clipboard = mine.catch(() => undefined);
  return mine;
}

/** Answers the question that is asked, once it can be heard: in its first moment no answer counts. */
export async function answer(page, word) {
  await page.locator('[data-testid=question-yes][aria-disabled=false]').waitFor();
  await page.getByTestId(`question-${word}`).click();
}

/** Opens the caps of the call under the pointer with advice from own use. The menu waits for it only so long. */
export async function openCaps(page) {
  const button = page.getByTestId('row-cap').first();
  await button.click();
  await page.getByTestId('cap-custom').waitFor();
  if (await page.getByTestId('cap-advised').count()) return;
  // It came too late for this menu, which stays as it is; the next one has it.
  await page.locator('[data-testid=row-cap][data-advice=here]').waitFor({ state: 'attached' });
  await page.keyboard.press('Escape');
  await page.getByTestId('cap-custom').waitFor({ state: 'detached' });
  await button.click();
  await page.getByTestId('cap-advised').waitFor();
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

/** Resolves when the log stands still, and its columns with it: scrolling by a wheel goes on for some frames after it. */
export function still(page) {
  return page.getByTestId('log').evaluate(async (log) => {
    const widths = () => [...document.querySelectorAll('[data-testid^=column-]')].map((one) => one.offsetWidth);
    const place = () => `${log.scrollTop} ${log.querySelector('[data-testid=row]')?.dataset.call} ${widths()}`;
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

/** Chooses from one of the window's own lists. */
export async function choose(list, value) {
  await list.click();
  await list.page().locator(`[role=option][data-value="${value}"]`).click();
}
