// Every section, light and dark, small and large: no serious accessibility finding, nothing against the CSP, no error.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { open, openCaps, settled } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Add a place here and it is looked at in both themes and sizes. `act` brings it into the state that is meant. */
export const places = {
  activity: { hash: '#/activity' },
  'activity with a call open': {
    hash: '#/activity',
    act: async (page) => {
      await page.locator('[data-testid=row][data-kind=call]').nth(3).click();
      await page.getByTestId('why').waitFor();
    },
  },
  'activity with a menu open': {
    hash: '#/activity',
    act: async (page) => {
      await page.locator('[data-testid=row][data-decision=allowed]').first().hover();
      await openCaps(page);
    },
  },
  'activity with a toast': {
    hash: '#/activity',
    act: async (page) => {
      await page.getByTestId('pause-all').click();
      await page.getByTestId('undo').waitFor();
      await page.getByTestId('pause-banner').waitFor();
    },
  },
  'activity with a question': {
    hash: '#/activity',
    act: async (page) => {
      await page.getByTestId('pause-all').click();
      await page.getByTestId('resume').click();
      await page.getByTestId('question-yes').waitFor();
    },
  },
  'activity as a table': { hash: '#/activity', act: (page) => page.getByRole('button', { name: 'Table' }).click() },
  runs: { hash: '#/activity?view=runs', act: (page) => page.locator('tbody tr').first().waitFor() },
  'nothing matches': { hash: '#/activity?q=zzzzzz', act: (page) => page.getByText('Nothing matches').waitFor() },
  'log cannot be read': {
    hash: '#/activity',
    fail: ['log_page'],
    act: (page) => page.getByText('The log cannot be read').waitFor(),
  },
  'log cannot be followed': {
    hash: '#/activity',
    fail: ['follow'],
    act: (page) => page.getByTestId('log-trouble').waitFor(),
  },
  servers: { hash: '#/servers', live: ['playwright', 'recorder'] },
  clients: { hash: '#/clients', clients: true, act: (page) => page.getByTestId('clients').waitFor() },
  rules: { hash: '#/rules/filesystem' },
  'all rules': { hash: '#/rules?all', act: (page) => page.getByTestId('rules-overview').waitFor() },
  'the default policy': { hash: '#/rules/_default', act: (page) => page.getByTestId('rules-for-all').waitFor() },
  'rules with a list open': {
    hash: '#/rules/filesystem',
    act: async (page) => {
      await page.getByTestId('rules-server').click();
      await page.getByRole('listbox').waitFor();
    },
  },
  settings: { hash: '#/settings' },
  welcome: {
    hash: '#/welcome',
    first: true,
    clients: true,
    act: (page) => page.getByTestId('checklist-protect').waitFor(),
  },
};

const sizes = [
  { width: 720, height: 480 },
  { width: 1440, height: 900 },
];

const other = { light: 'dark', dark: 'light' };
/** The rules that a theme can make a difference to: the page is the same in both but for its colours. */
const colours = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** Looks at a place in one theme with all rules, and then, as it is, at its colours in the other. */
async function look(env, place, size, theme, both = true) {
  const { act, ...like } = place;
  const { page, problems, close, world } = await open(env, { ...like, ...size, theme });
  let left = false;
  try {
    await settled(page);
    await act?.(page, world);
    await settled(page);
    // As the debugger does: the page's CSP would rightly refuse a script tag.
    await page.evaluate(axe);
    await inspect(page, theme, {});
    if (both) {
      const before = await outline(page);
      await page.emulateMedia({ colorScheme: other[theme] });
      await page.locator(`:root[data-theme=${other[theme]}]`).waitFor();
      await settled(page);
      left = (await outline(page)) !== before;
      if (!left) await inspect(page, other[theme], colours);
    }
    assert.deepEqual(problems, []);
  } finally {
    await close();
  }
  // Something of it has gone in the meantime, as a note does that leaves by itself.
  if (left) await look(env, place, size, other[theme], false);
}

/** What is on the page, by name. */
const outline = (page) =>
  page.evaluate(() => [...document.querySelectorAll('[data-testid]')].map((one) => one.dataset.testid).join(' '));

/** No serious finding, and nothing beyond the window's edge. */
async function inspect(page, theme, rules) {
  const found = await page.evaluate(async (only) => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'], preload: false, ...only });
    return violations
      .filter((one) => one.impact === 'serious' || one.impact === 'critical')
      .map(
        (one) =>
          `${one.id}: ${one.help}\n  ${one.nodes
            .slice(0, 3)
            .map((node) => `${node.target} ${node.failureSummary?.replaceAll('\n', ' ')}`)
            .join('\n  ')}`,
      );
  }, rules);
  assert.deepEqual(found, [], theme);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(wide, false, `${theme}: the page is wider than the window`);
}

/** Every one of these places, in both sizes and both themes. The small window is opened light, the large one dark. */
export function accessible(places) {
  const all = {};
  for (const [name, place] of Object.entries(places))
    for (const [theme, size] of [
      ['light', sizes[0]],
      ['dark', sizes[1]],
    ])
      all[`${name}, light and dark, ${size.width}×${size.height}`] = (env) => look(env, place, size, theme);
  return all;
}

export const checks = () => accessible(places);
