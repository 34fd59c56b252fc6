// Every section, light and dark, small and large: no serious accessibility finding, nothing against the CSP, no error.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { open, settled } from './browser.mjs';

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
      await page.getByTestId('row-cap').first().click();
      await page.getByTestId('cap-advised').waitFor();
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
    query: '?fail=logPage',
    act: (page) => page.getByText('The log cannot be read').waitFor(),
  },
  'log cannot be followed': {
    hash: '#/activity',
    query: '?rate=0&fail=follow',
    act: (page) => page.getByTestId('log-trouble').waitFor(),
  },
  servers: { hash: '#/servers' },
  clients: { hash: '#/clients', act: (page) => page.getByTestId('clients').waitFor() },
  rules: { hash: '#/rules/files' },
  settings: { hash: '#/settings' },
  welcome: {
    hash: '#/welcome',
    query: '?calls=0&rate=0',
    act: (page) => page.getByTestId('checklist-protect').waitFor(),
  },
};

export const sizes = [
  { width: 720, height: 480 },
  { width: 1440, height: 900 },
];

export async function look(env, place, size, theme) {
  const { page, problems, close } = await open(env, {
    ...size,
    theme,
    query: place.query ?? '?rate=0',
    hash: place.hash,
  });
  try {
    await settled(page);
    await place.act?.(page);
    await settled(page);
    // As the debugger does: the page's CSP would rightly refuse a script tag.
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
      return violations
        .filter((one) => one.impact === 'serious' || one.impact === 'critical')
        .map(
          (one) =>
            `${one.id}: ${one.help}\n  ${one.nodes
              .slice(0, 3)
              .map((node) => `${node.target} ${node.failureSummary?.replaceAll('\n', ' ')}`)
              .join('\n  ')}`,
        );
    });
    assert.deepEqual(found, []);
    assert.deepEqual(problems, []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wide, false, 'the page is wider than the window');
  } finally {
    await close();
  }
}

export function checks() {
  const all = {};
  for (const [name, place] of Object.entries(places)) {
    for (const size of sizes) {
      for (const theme of ['light', 'dark']) {
        all[`${name}, ${theme}, ${size.width}×${size.height}`] = (env) => look(env, place, size, theme);
      }
    }
  }
  return all;
}
