// Tools: everything that agents can call, with what it can do; a rule for one of them with one click, and no serious accessibility
// finding in either theme.
import assert from 'node:assert/strict';
import { accessible } from './access.e2e.mjs';
import { until, visit } from './browser.mjs';

const size = { width: 1180, height: 720, theme: 'light' };
const on = (env, options, check) => visit(env, { ...size, ...options }, check);
const rows = (page) => page.getByTestId('tool-row');

const places = {
  'all tools': { hash: '#/tools', act: (page) => rows(page).first().waitFor() },
  'the page of a tool': {
    hash: '#/tools/filesystem?tool=write_file',
    act: (page) => page.getByTestId('tool-questions').waitFor(),
  },
  'rules to begin with': {
    hash: '#/tools/playwright',
    act: async (page) => {
      await page.getByTestId('starting-points').locator('summary').first().click();
      await page.getByTestId('start-recommended').waitFor();
    },
  },
  'everything that agents can call': {
    hash: '#/overview',
    clients: true,
    act: (page) => page.getByTestId('surface-server').first().waitFor(),
  },
  'nothing that agents could call': {
    hash: '#/overview',
    first: true,
    act: (page) => page.getByText('Nothing that agents could call was found').waitFor(),
  },
  'a question before a server is started': {
    hash: '#/overview',
    clients: true,
    act: async (page) => {
      await page.getByTestId('scan').first().click();
      await page.getByTestId('scan-command').waitFor();
    },
  },
  'the choice of rules to begin with': {
    hash: '#/overview',
    clients: true,
    act: async (page) => {
      await page.getByTestId('surface-protect').click();
      await page.getByTestId('starts-locked').check();
      await page.getByTestId('starts-what').waitFor();
    },
  },
  'the catalogue': {
    hash: '#/tools?catalogue=',
    clients: true,
    act: (page) => page.getByTestId('known-server').first().waitFor(),
  },
  'a server to add from the catalogue': {
    hash: '#/tools?catalogue=',
    clients: true,
    act: async (page) => {
      await page.getByTestId('catalogue-find').fill('asana');
      await page.getByTestId('known-add').click();
      await page.getByTestId('starts-what').waitFor();
    },
  },
  'no tools': { hash: '#/tools', first: true, act: (page) => page.getByText('No tools are known yet').waitFor() },
};

export const checks = async () => ({
  ...(await accessible(places)),

  'a tool is found by typing, opened with Enter, and its recommended rule is applied and undone': (env) =>
    on(env, { hash: '#/activity', live: ['recorder'] }, async (page) => {
      await page.keyboard.press('5');
      await rows(page).first().waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('end_codegen');
      await until(async () => (await rows(page).count()) === 1, 'one tool is left');
      await rows(page).first().getByRole('link').focus();
      await page.keyboard.press('Enter');
      await page.getByTestId('apply-rule').waitFor();
      assert.equal(await page.getByTestId('apply-rule').textContent(), 'Limit');
      await page.getByTestId('apply-rule').click();
      await page.getByTestId('in-force').waitFor();
      await page.keyboard.press('u');
      await page.getByTestId('apply-rule').waitFor();
    }),
});
