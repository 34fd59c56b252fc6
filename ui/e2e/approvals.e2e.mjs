// Calls that wait for a person: shown as they are, decided once, and nothing on the card that a stray key or click could say
// yes with.
import assert from 'node:assert/strict';
import { accessible } from './access.e2e.mjs';
import { open, until } from './browser.mjs';

const size = { width: 1180, height: 720, theme: 'light' };
const hostile = 'ok\u202E gnitirw \u0007<img src=x onerror=alert(1)>';

/** A session behind the real gate, one of whose tools is asked about. */
function asked(world) {
  const tools = { write_file: { action: 'ask', reason: 'look twice' } };
  world.editPolicy('filesystem', JSON.stringify({ version: '1', default: 'allow', tools }));
  return world.open('filesystem', 'Cursor');
}

/** A page, with such a session. */
async function on(env, options, check) {
  const { page, problems, close, world } = await open(env, { ...size, hash: '#/approvals', ...options });
  try {
    world.editPolicy(
      'filesystem',
      JSON.stringify({
        version: '1',
        default: 'allow',
        tools: { write_file: { action: 'ask', reason: 'look twice' } },
      }),
    );
    const session = await world.open('filesystem', 'Cursor');
    await check(page, session, world);
    assert.deepEqual(problems, []);
  } finally {
    await close();
  }
}

const cards = (page) => page.getByTestId('approval');
const text = (answer) => answer.result.content[0].text;
/** Clicks, once the card listens: in its first moment nothing counts. */
async function decide(page, word) {
  const button = cards(page).first().getByTestId(word);
  await until(async () => (await button.getAttribute('aria-disabled')) !== 'true', 'the card listens');
  await button.click();
}

export const checks = async () => ({
  'a call that waits is shown with its arguments, and runs after Allow once': (env) =>
    on(env, {}, async (page, session) => {
      const call = session.call('write_file', { path: '/tmp/a', content: hostile });
      const card = cards(page).first();
      await card.getByText('Cursor wants to call write_file').waitFor();
      await card.getByText('look twice').waitFor();
      await card.getByTestId('arguments').getByText('U+202E').waitFor();
      await card.getByTestId('clock').getByText('its client waits').waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.closest('[data-testid=approval]')), null);
      await decide(page, 'allow-once');
      assert.match(text(await call), /write_file/);
      await page.getByTestId('ended').getByText('Approved in the window').waitFor();
      assert.equal(await cards(page).count(), 0);
    }),

  'a no tells the agent why, and a rule can be made of it': (env) =>
    on(env, {}, async (page, session) => {
      const call = session.call('write_file', { path: '/tmp/a' });
      await page.getByTestId('deny-reason').fill('only in the project');
      await decide(page, 'deny-block');
      assert.match(text(await call), /the user said no: only in the project/);
      assert.match(text(await session.call('write_file', { path: '/tmp/b' })), /only in the project/);
    }),

  'a burst lets the next calls of the ticked tools through until it is revoked': (env) =>
    on(env, {}, async (page, session, world) => {
      const [write, edit] = ['write_file', 'edit_file'];
      const tools = { [write]: { action: 'ask' }, [edit]: { action: 'ask' }, delete_file: { action: 'ask' } };
      world.editPolicy('filesystem', JSON.stringify({ version: '1', default: 'allow', tools }));
      const call = session.call(write, { path: '/tmp/a' });
      await decide(page, 'allow-more');
      await page.getByTestId('allow-burst').click();
      await page.locator('[data-testid=burst-tool][aria-disabled=false]').first().waitFor();
      await page.getByTestId('burst').getByText(edit).click();
      await page.getByTestId('burst-means').getByText(edit).waitFor();
      await decide(page, 'burst-allow');
      await call;
      for (const tool of [write, edit])
        assert.doesNotMatch(text(await session.call(tool, { path: '/tmp/b' })), /Callgate/);
      await page.getByTestId('grant').getByText(edit).waitFor();
      // Not ticked.
      void session.call('delete_file', { path: '/tmp/b' });
      await cards(page).getByText('delete_file').first().waitFor();
      await decide(page, 'deny');
      await cards(page).first().waitFor({ state: 'detached' });
      await page.getByTestId('revoke').click();
      await page.getByTestId('grant').waitFor({ state: 'detached' });
      void session.call(write, { path: '/tmp/c' });
      await cards(page).first().waitFor();
    }),

  'what is not shown whole cannot be allowed': (env) =>
    on(env, {}, async (page, session) => {
      void session.call('write_file', { path: '/tmp/a', content: 'x'.repeat(100_000) });
      await cards(page).getByText('only the first part can be shown').waitFor();
      // What has just come hears nothing for a moment; then only the yes stays off.
      await cards(page).locator('[data-testid="deny"][aria-disabled="false"]').waitFor();
      assert.equal(await cards(page).getByTestId('allow-once').isDisabled(), true);
    }),

  'a waiting call shows in the header and on the rail, from every section': (env) =>
    on(env, { hash: '#/settings' }, async (page, session) => {
      void session.call('write_file', { path: '/tmp/a' });
      await page.getByTestId('badge-approvals').waitFor();
      await page.getByText('Cursor wants to call write_file and waits for your decision').waitFor();
      await page.getByRole('button', { name: 'Decide' }).click();
      await cards(page).first().waitFor();
    }),

  'Ask from now on is one click on a row of the log': (env) =>
    on(env, { hash: '#/activity' }, async (page, session) => {
      await session.call('read_text_file', { path: '/tmp/a' });
      const row = page.getByTestId('row').filter({ hasText: 'read_text_file' }).filter({ hasText: 'Cursor' }).first();
      await row.click({ button: 'right' });
      await page.getByTestId('menu-ask').click();
      await page.getByTestId('toast').getByText('Asking you about every call of read_text_file').waitFor();
      void session.call('read_text_file', { path: '/tmp/b' });
      await page.getByTestId('rail-approvals').click();
      await cards(page).getByText('read_text_file').first().waitFor();
    }),

  ...accessible({
    'approvals, none': { hash: '#/approvals' },
    'approvals with a card': {
      hash: '#/approvals',
      act: async (page, world) => {
        const session = await asked(world);
        void session.call('write_file', { path: '/tmp/a', content: hostile });
        await page.locator('[data-testid=allow-once][aria-disabled=false]').waitFor();
      },
    },
    'approvals with the tools of a burst': {
      hash: '#/approvals',
      act: async (page, world) => {
        const session = await asked(world);
        world.editPolicy('filesystem', JSON.stringify({ version: '1', default: 'ask' }));
        void session.call('write_file', { path: '/tmp/a' });
        await page.locator('[data-testid=allow-more][aria-disabled=false]').click();
        await page.getByTestId('allow-burst').click();
        await page.locator('[data-testid=burst-tool][aria-disabled=false]').first().click();
        await page.locator('[data-testid=burst-allow][aria-disabled=false]').waitFor();
      },
    },
  }),
});
