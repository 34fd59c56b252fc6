// Clients and the first-run checklist: what they promise, and no serious accessibility finding in any of their states.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { accessible } from './access.e2e.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { configs } from '../bridge/clients.mjs';
import { long } from '../bridge/past.mjs';
import { answer, settled, until, visit, withClipboard } from './browser.mjs';

const size = { width: 1180, height: 720, theme: 'light' };
const first = { hash: '#/welcome', first: true, clients: true };

const on = (env, options, check) => visit(env, { ...size, hash: '#/clients', clients: true, ...options }, check);

const card = (page, id) => page.getByTestId(`client-${id}`);
const row = (page, client, name) => card(page, client).getByTestId(`entry-${name}`);
const says = (page, client, name, word) =>
  row(page, client, name).getByTestId('entry-state').getByText(word, { exact: true }).waitFor();
const marked = (page, step, mark) => page.locator(`[data-testid=step-${step}][data-mark=${mark}]`).waitFor();

/** Says yes to what is about to be written, once it can be heard. */
async function accept(page, dialog = 'edits') {
  await page.locator(`[data-testid=${dialog}-yes][aria-disabled=false]`).waitFor();
  await page.getByTestId(`${dialog}-yes`).click();
  await page.getByTestId(`${dialog}-dialog`).waitFor({ state: 'detached' });
}

const config = (world, client) => `${world.person}/${configs[client]}`;
const text = (world, client) => readFileSync(config(world, client), 'utf8');

/** Somebody changed the command of a server that has secrets in the keychain. */
async function edited(page, world) {
  const file = config(world, 'code');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"mcp-server-fetch"', '"mcp-server-fetch@2"'));
  await row(page, 'claude-code', 'fetch').getByTestId('secrets-rebind').waitFor();
}

async function toBeProtected(page) {
  await row(page, 'claude-desktop', 'github').getByTestId('entry-protect').click();
  await accept(page);
  await page.getByTestId('client-queued').waitFor();
}

async function reopened(page) {
  await page.getByTestId('checklist-protect').click();
  await page.getByTestId('reopen-claude-desktop').click();
  await marked(page, 'written', 'done');
  await page.getByTestId('started-claude-desktop').getByText('runs with the gate').waitFor();
}

/** A new server, as far as it can be typed without a mistake. */
async function typed(page) {
  await page.getByTestId('clients-add').click();
  await page.getByTestId('add-name').fill('gh');
  await page.getByTestId('add-command').fill('npx -y gh-mcp --folder "/home/ada/some where"');
  await page.getByTestId('add-variable-more').click();
  await page.getByTestId('add-variable-name').fill('GITHUB_TOKEN');
  await page.getByTestId('add-variable-value').fill('ghp_1234567890abcdef');
  await page.getByTestId('add-to-cursor').check();
  await page.getByTestId('add-to-claude-desktop').check();
  await page.locator('[data-testid=add-yes][aria-disabled=false]').waitFor();
}

const places = {
  'a new server, with what is written': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await typed(page);
      await page.getByTestId('add-variable-suspect').waitFor();
    },
  },
  'a new server with mistakes': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await page.getByTestId('clients-add').click();
      await page.getByTestId('add-name').fill('not good');
      await page.getByTestId('add-name').blur();
      await page.getByTestId('add-name-problem').waitFor();
    },
  },
  'a server that was added': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await typed(page);
      await page.getByTestId('add-yes').click();
      await page.getByTestId('added').getByTestId('entry-test').click();
      await page.getByTestId('added').getByTestId('entry-answer').waitFor();
    },
  },
  'edits before they are written': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await page.getByTestId('clients-protect').click();
      await page.locator('[data-testid=edits-yes][aria-disabled=false]').waitFor();
    },
  },
  'a client with changes that wait, and a test': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await toBeProtected(page);
      await row(page, 'claude-desktop', 'files').getByTestId('entry-test').click();
      await page.getByTestId('entry-answer').waitFor();
    },
  },
  'a client that runs the old configuration': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await toBeProtected(page);
      await page.getByTestId('client-write-now').click();
      await answer(page, 'yes');
      await page.getByTestId('client-stale').waitFor();
    },
  },
  'unprotecting asks': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await row(page, 'claude-desktop', 'files').getByTestId('entry-unprotect').click();
      await page.locator('[data-testid=edits-yes][aria-disabled=false]').waitFor();
    },
  },
  'a backup about to be restored': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await page.getByTestId('backups-open').click();
      await page.getByTestId('backup-restore').first().click();
      await page.locator('[data-testid=restore-yes][aria-disabled=false]').waitFor();
    },
  },
  'a backup that waits to be restored': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await page.getByTestId('backups-open').click();
      await page.getByTestId('backup-restore').first().click();
      await page.locator('[data-testid=restore-yes][aria-disabled=false]').click();
      await page.getByTestId('client-queued').waitFor();
    },
  },
  'secrets about to be moved': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await row(page, 'claude-code', long).getByTestId('secrets-move').click();
      await page.locator('[data-testid=secrets-yes][aria-disabled=false]').waitFor();
      await page.getByTestId('diff').waitFor();
    },
  },
  'secrets about to be put back': {
    hash: '#/clients',
    clients: true,
    keychain: true,
    act: async (page) => {
      await row(page, 'claude-code', 'fetch').getByTestId('secrets-back').click();
      await page.locator('[data-testid=secrets-yes][aria-disabled=false]').waitFor();
    },
  },
  'secrets of an entry that was edited': {
    hash: '#/clients',
    clients: true,
    keychain: true,
    act: async (page, world) => {
      await edited(page, world);
      await row(page, 'claude-code', 'fetch').getByTestId('secrets-rebind').click();
      await page.locator('[data-testid=secrets-yes][aria-disabled=false]').waitFor();
    },
  },
  'no keychain': {
    hash: '#/clients',
    clients: true,
    act: async (page) => {
      await row(page, 'claude-code', long).getByTestId('secrets-move').click();
      await page.locator('[data-testid=secrets-yes][aria-disabled=false]').waitFor();
      await page.getByTestId('secrets-yes').click();
      await page.getByTestId('secrets-problem').waitFor();
    },
  },
  'no client': {
    hash: '#/clients',
    clients: false,
    act: (page) => page.getByTestId('no-client').waitFor(),
  },
  'clients cannot be read': {
    hash: '#/clients',
    fail: ['clients'],
    act: (page) => page.getByText('could not be read').waitFor(),
  },
  'the checklist while something waits': {
    ...first,
    act: async (page) => {
      await page.getByTestId('checklist-protect').click();
      await page.getByTestId('reopen-claude-desktop').waitFor();
      await page.getByTestId('checklist-cannot').locator('summary').click();
    },
  },
  'the checklist before the first call': {
    ...first,
    act: async (page) => {
      await reopened(page);
      await page.getByTestId('connected-files').getByTestId('entry-test').click();
      await page.getByTestId('entry-answer').waitFor();
    },
  },
  'the checklist without a client': {
    hash: '#/welcome',
    first: true,
    clients: false,
    act: (page) => page.getByTestId('no-client').waitFor(),
  },
};

export const checks = () => ({
  ...accessible(places),

  'from the first start to protected in at most five clicks, with Claude Desktop running': (env) =>
    on(env, { hash: '', first: true }, async (page, world) => {
      let clicks = 0;
      const click = async (id) => {
        await page.getByTestId(id).click();
        clicks += 1;
      };
      await page.getByTestId('diff').first().waitFor();
      assert.match(await page.getByTestId('edits').textContent(), /"--client"/);
      await click('checklist-protect');
      await marked(page, 'quit', 'now');
      await page.getByTestId('step-quit').getByText('Closing its window is not quitting').waitFor();
      await click('reopen-claude-desktop');
      for (const step of ['found', 'edits', 'quit', 'written']) await marked(page, step, 'done');
      await page.getByTestId('started-claude-desktop').getByText('runs with the gate').waitFor();
      await page.getByTestId('connected-files').getByText('done:').waitFor();
      assert.ok(clicks <= 5, `${clicks} clicks`);
      const copied = await withClipboard(env, async () => {
        await click('checklist-copy');
        return page.evaluate(() => navigator.clipboard.readText());
      });
      assert.match(copied, /^List the tools you have/);
      // A client that is told nothing takes it up when a person reloads it; then somebody makes a call.
      const [session] = await world.startServers('cursor');
      await session.call('search');
      for (const step of ['started', 'connected', 'called']) await marked(page, step, 'done');
      await page.getByText('Your servers are behind the gate').waitFor();
    }),

  'one undo takes back all that the checklist protected': (env) =>
    on(env, first, async (page, world) => {
      await reopened(page);
      await page.getByTestId('checklist-undo').click();
      await page.getByTestId('edits-dialog').getByText('neither judged nor recorded').waitFor();
      await accept(page);
      await marked(page, 'quit', 'now');
      await page.getByTestId('reopen-claude-desktop').click();
      const gated = () => ['claude', 'cursor'].some((client) => text(world, client).includes('bin/callgate'));
      await until(() => !gated(), 'all are unprotected');
      await marked(page, 'edits', 'now');
      await marked(page, 'quit', 'later');
      assert.equal(await page.getByTestId('checklist-undo').count(), 0);
    }),

  'the checklist ticks off what happens elsewhere': (env) =>
    on(env, first, async (page, world) => {
      await page.getByTestId('checklist-protect').click();
      await marked(page, 'quit', 'now');
      world.claude.kill();
      await marked(page, 'written', 'done');
      await page.getByTestId('started-claude-desktop').getByText('start it').waitFor();
    }),

  'the preview of a new server moves no row from under the pointer, and one bar scrolls': (env) =>
    on(env, {}, async (page) => {
      const place = async () => {
        await settled(page);
        return page.evaluate(() =>
          ['add-to-cursor', 'add-to-claude-code', 'add-cancel', 'add-yes'].map((id) =>
            Math.round(document.querySelector(`[data-testid=${id}]`).getBoundingClientRect().top),
          ),
        );
      };
      await page.getByTestId('clients-add').click();
      await page.getByTestId('add-to-cursor').waitFor();
      const before = await place();
      await page.getByTestId('add-name').fill('not good');
      await page.getByTestId('add-command').fill('npx x');
      await page.getByTestId('add-name-problem').waitFor();
      assert.deepEqual(await place(), before);
      await page.getByTestId('add-name').fill('good');
      await page.getByTestId('add-to-cursor').check();
      await page.getByTestId('edit-cursor').waitFor();
      assert.deepEqual(await place(), before);
      await page.getByTestId('add-variable-more').click();
      const twice = await page.getByTestId('add-dialog').evaluate((one) => one.scrollHeight > one.clientHeight);
      assert.equal(twice, false, 'the dialog scrolls beside what scrolls in it');
    }),

  'an answer of Test now pushes no button under the pointer': (env) =>
    on(env, {}, async (page) => {
      const next = row(page, 'cursor', 'postgres').getByTestId('entry-test');
      await next.scrollIntoViewIfNeeded();
      const before = (await next.boundingBox()).y;
      await row(page, 'cursor', 'files').getByTestId('entry-test').click();
      await row(page, 'cursor', 'files').getByTestId('entry-answer').waitFor();
      assert.equal((await next.boundingBox()).y, before);
    }),

  'a long line of a diff is not cut, and nothing scrolls sideways': (env) =>
    on(env, { width: 900, height: 600 }, async (page, world) => {
      const far = `/a/${'long'.repeat(200)}/end`;
      writeFileSync(config(world, 'cursor'), text(world, 'cursor').replace('/home/ada/notes', far));
      await page.getByTestId('clients-protect').click();
      await page.getByTestId('diff').first().waitFor();
      const sideways = await page.getByTestId('edits-dialog').evaluate((dialog) =>
        [dialog, ...dialog.querySelectorAll('*')]
          .filter((one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
          .filter((one) => one.scrollWidth > one.clientWidth)
          .map((one) => one.className),
      );
      assert.deepEqual(sideways, []);
      const cut = await page
        .getByTestId('diff')
        .evaluateAll(
          (all) =>
            all.flatMap((diff) =>
              [...diff.querySelectorAll('.text')].filter(
                (one) => one.getBoundingClientRect().right > diff.getBoundingClientRect().right + 1,
              ),
            ).length,
        );
      assert.equal(cut, 0);
    }),

  'an empty check box is not white on a dark page': (env) =>
    on(env, { theme: 'dark' }, async (page) => {
      await page.getByTestId('clients-add').click();
      const paint = async (id) => {
        await settled(page);
        return page
          .getByTestId(id)
          .evaluate((one) => [getComputedStyle(one).appearance, getComputedStyle(one).backgroundColor]);
      };
      await page.getByTestId('add-to-cursor').waitFor();
      assert.deepEqual(await paint('add-to-cursor'), ['none', 'rgb(24, 28, 36)']);
      await page.getByTestId('add-to-cursor').check();
      assert.deepEqual(await paint('add-to-cursor'), ['none', 'rgb(134, 168, 255)']);
    }),

  'Protect is in reach on the first screen, however many edits there are': (env) =>
    on(env, { ...first, width: 900, height: 600 }, async (page) => {
      await page.getByTestId('checklist-protect').waitFor();
      const { bottom } = await page
        .getByTestId('checklist-protect')
        .evaluate((one) => ({ bottom: one.getBoundingClientRect().bottom }));
      assert.ok(bottom <= 600, `its lower edge is at ${bottom}`);
    }),

  'the window does not slide under its frame, whatever takes the focus': (env) =>
    on(env, { width: 900, height: 600 }, async (page) => {
      await page.getByTestId('clients').waitFor();
      await page.keyboard.press('Control+k');
      await page.getByTestId('palette-input').waitFor();
      await page.keyboard.press('Escape');
      await page.getByTestId('palette-input').waitFor({ state: 'detached' });
      const slid = await page.evaluate(() => {
        const all = [...document.querySelectorAll('button, a[href], [tabindex], .sr-only')];
        for (const one of [...all, all.at(-1)]) {
          one.focus();
          one.scrollIntoView();
        }
        const moved = [document.scrollingElement, document.documentElement, document.body];
        moved.push(document.getElementById('app'), document.getElementById('main'));
        for (const one of moved) one.scrollTop = 500;
        window.scrollTo(0, 500);
        return moved.map((one) => one.scrollTop);
      });
      assert.deepEqual(slid, [0, 0, 0, 0, 0]);
    }),

  'nothing is written before its diff was seen, and no is no': (env) =>
    on(env, {}, async (page) => {
      await row(page, 'claude-desktop', 'linear').getByText('reached over the network').waitFor();
      await card(page, 'zed').getByTestId('file-problem').getByText('is not valid JSON').waitFor();
      await page.getByTestId('clients-protect').click();
      await page.getByTestId('edits-no').click();
      await page.getByTestId('edits-dialog').waitFor({ state: 'detached' });
      await says(page, 'cursor', 'postgres', 'Not protected');
      await page.getByTestId('clients-protect').click();
      await accept(page);
      await says(page, 'cursor', 'postgres', 'Protected');
      await says(page, 'claude-desktop', 'github', 'Will be protected');
      await page.getByTestId('reopen-claude-desktop').click();
      await says(page, 'claude-desktop', 'github', 'Protected');
      assert.equal(await page.getByTestId('clients-protect').count(), 0);
    }),

  'a whole client is unprotected from its menu, after its diff': (env) =>
    on(env, {}, async (page) => {
      await card(page, 'claude-code').getByTestId('client-more').click();
      await page.getByTestId('client-unprotect').click();
      await page.getByTestId('edits').getByText('fetch').first().waitFor();
      await accept(page);
      await card(page, 'claude-code').getByText('0 of 3 servers protected').waitFor();
    }),

  'a file that lost its servers is put back from a backup': (env) =>
    on(env, {}, async (page, world) => {
      world.claude.kill();
      await once(world.claude, 'exit');
      writeFileSync(config(world, 'claude'), '{\n  "mcpServers": {}\n}\n');
      await card(page, 'claude-desktop').getByText('It names no server.').waitFor();
      await page.getByTestId('backups-open').click();
      await page.getByTestId('backup-restore').first().click();
      await accept(page, 'restore');
      await says(page, 'claude-desktop', 'files', 'Protected');
      await page.getByTestId('toast').getByText('Restored').waitFor();
    }),

  'a gate that somebody took away is told, and put back': (env) =>
    on(env, {}, async (page, world) => {
      const edited = JSON.parse(text(world, 'code'));
      Object.assign(edited.mcpServers.fetch, { command: 'uvx', args: ['mcp-server-fetch'] });
      writeFileSync(config(world, 'code'), JSON.stringify(edited, null, 2));
      const drift = card(page, 'claude-code')
        .getByTestId('drift')
        .filter({ hasText: /fetch.*lost its gate/ });
      await drift.getByTestId('drift-protect').click();
      await accept(page);
      await says(page, 'claude-code', 'fetch', 'Protected');
      await drift.waitFor({ state: 'detached' });
    }),

  'a byte order mark is taken away where that is offered': (env) =>
    on(env, {}, async (page, world) => {
      const before = text(world, 'cursor');
      writeFileSync(config(world, 'cursor'), `\ufeff${before}`);
      const problem = card(page, 'cursor').getByTestId('file-problem');
      await problem.getByText(/byte order mark/).waitFor();
      assert.equal(await card(page, 'zed').getByTestId('file-repair').count(), 0);
      await problem.getByTestId('file-repair').click();
      await problem.waitFor({ state: 'detached' });
      assert.equal(text(world, 'cursor'), before);
    }),

  'a server that was added is removed after its edits were seen, and Undo brings it back': (env) =>
    on(env, {}, async (page, world) => {
      await page.getByTestId('clients-add').click();
      await page.getByTestId('add-name').fill('mine');
      await page.getByTestId('add-command').fill('npx mine');
      await page.getByTestId('add-to-cursor').check();
      await page.locator('[data-testid=add-yes][aria-disabled=false]').click();
      await page.getByTestId('added').getByText('Placed in Cursor, behind the gate').waitFor();
      await page.getByTestId('add-close').click();
      const mine = row(page, 'cursor', 'mine');
      await mine.getByTestId('entry-remove').click();
      await page.getByTestId('remove-dialog').getByTestId('edit-cursor').waitFor();
      assert.match(text(world, 'cursor'), /"mine"/);
      await accept(page, 'remove');
      await mine.waitFor({ state: 'detached' });
      assert.doesNotMatch(text(world, 'cursor'), /"mine"/);
      await page.getByTestId('undo').click();
      await mine.waitFor();
      assert.match(text(world, 'cursor'), /"mine"/);
    }),

  'secrets move into the keychain and come back, each after it was seen': (env) =>
    on(env, { keychain: true }, async (page, world) => {
      const before = text(world, 'code');
      const entry = row(page, 'claude-code', long);
      await entry.getByTestId('secrets-move').click();
      await page.getByTestId('secrets-names').getByText('TOOLS_SIGNING_KEY_OF_PRODUCTION').waitFor();
      await accept(page, 'secrets');
      await entry.getByTestId('secrets-kept').getByText('2 secrets in the keychain').waitFor();
      assert.notEqual(text(world, 'code'), before);
      // What loosens is never under the first key.
      await entry.getByTestId('secrets-back').click();
      await page.locator('[data-testid=secrets-no]:focus').waitFor();
      await accept(page, 'secrets');
      await entry.getByTestId('secrets-plain').waitFor();
      assert.equal(text(world, 'code'), before);
    }),

  'keyboard alone: to the section, protect, and the focus comes back': (env) =>
    on(env, { hash: '#/servers' }, async (page) => {
      await page.getByTestId('servers').waitFor();
      await page.keyboard.press('6');
      await page.getByTestId('clients').waitFor();
      await row(page, 'cursor', 'postgres').getByTestId('entry-protect').focus();
      await page.keyboard.press('Enter');
      await page.locator('[data-testid=edits-yes]:focus').waitFor();
      await page.keyboard.press('Escape');
      await page.getByTestId('edits-dialog').waitFor({ state: 'detached' });
      await until(
        () => page.evaluate(() => document.activeElement?.dataset.testid === 'entry-protect'),
        'the focus is where it came from',
      );
      await page.keyboard.press('Enter');
      await page.locator('[data-testid=edits-yes]:focus').waitFor();
      await page.keyboard.press('Enter');
      await says(page, 'cursor', 'postgres', 'Protected');
      // What loosens is never under the first key.
      await row(page, 'cursor', 'postgres').getByTestId('entry-unprotect').focus();
      await page.keyboard.press('Enter');
      await page.locator('[data-testid=edits-no]:focus').waitFor();
      await settled(page);
    }),
});
