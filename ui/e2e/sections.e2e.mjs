// Servers, settings, the first start, help and palette: what they promise, and no serious accessibility finding in them.
import assert from 'node:assert/strict';
import { accessible } from './access.e2e.mjs';
import { answer, settled, until, visit } from './browser.mjs';

const size = { width: 1180, height: 720, theme: 'light' };

const on = (env, options, check) => visit(env, { ...size, ...options }, check);

const toast = (page, text) => page.getByTestId('toast').getByText(text);
const card = (page, name) => page.getByTestId(`server-${name}`);

/** One server in a crash loop, one that its limits ended: what the desk says of them, with that in it. */
async function fall(world) {
  const ways = {
    filesystem: ['down', 'the server does not run: it crashed 5 times in 60 s. A person has to start it'],
    github: ['stopped', 'ended by its limits: it has 11 processes, more than its limit of 10'],
  };
  const servers = await world.invoke('servers');
  for (const one of servers.flatMap(({ sessions }) => sessions))
    if (one.endedMs === null && ways[one.server]) [one.stand, one.standWords] = ways[one.server];
  await world.answer('servers', { ok: servers });
}

const day = 86_400_000;
const process = (at, what) => ({
  pid: 31_020 + at,
  depth: Math.min(at, 1),
  what,
  command: `/opt/chromium/chrome --type=${what}`,
  cpuPercent: 0.5,
  memoryBytes: 60_000_000,
  startedMs: Date.now() - 2 * day,
});
const names = ['browser', 'crash handler', 'gpu', 'network', 'renderer', 'renderer'];

/** What a dead session left, and a browser of nobody: ending real ones is for the tests of the app. */
async function leave(world) {
  const processes = names.map((what, at) => process(at, what));
  const endedMs = Date.now() - 2 * day;
  const left = { session: 'k3v9qa', server: 'playwright', client: 'claude-ai', endedMs, seenMs: null };
  const profile = '/tmp/puppeteer_dev_chrome_profile-Zk1a0Q';
  const suspect = {
    id: '20114:88123',
    pid: 20_114,
    profile,
    processes: 9,
    memoryBytes: 388_000_000,
    startedMs: endedMs,
  };
  const command = `/opt/chromium/chrome --headless --remote-debugging-port=0 --user-data-dir=${profile}`;
  const leftovers = [{ ...left, memoryBytes: 360_000_000, browsers: processes.length, processes }];
  await world.answer('strays', { ok: { leftovers, elsewhere: [], suspects: [{ ...suspect, command }] } });
}

const places = {
  'servers that fell': {
    hash: '#/servers',
    live: ['filesystem', 'github'],
    act: async (page, world) => {
      await page.getByTestId('servers').waitFor();
      await fall(world);
      await card(page, 'filesystem').getByTestId('server-stand').waitFor();
    },
  },
  'a server opened': {
    hash: '#/servers/playwright',
    live: ['playwright'],
    act: (page) => page.getByTestId('stderr').waitFor(),
  },
  'what is left over': {
    hash: '#/settings',
    act: async (page, world) => {
      await leave(world);
      await page.getByTestId('rail-servers').click();
      await page.getByTestId('leftovers-show').click();
      await page.getByTestId('suspects-show').click();
      await page.getByTestId('suspect').check();
    },
  },
  'where a test goes': {
    hash: '#/servers',
    recording: 'claude-ai',
    act: async (page) => {
      await page.getByTestId('codegen-export').first().click();
      await page.getByTestId('export-path').fill('/home/ada/login.sh');
      await page.getByTestId('export-write').click();
      await page.getByTestId('export-test').getByText('something.spec.ts').waitFor();
    },
  },
  'everything about to be stopped': {
    hash: '#/servers',
    recording: 'claude-ai',
    act: async (page) => {
      await page.getByTestId('stop-everything').click();
      await page.getByTestId('loss').getByText('stay saved in Callgate').waitFor();
    },
  },
  'no server': { hash: '#/servers', first: true, act: (page) => page.getByTestId('servers-demo').waitFor() },
  'servers cannot be read': {
    hash: '#/servers',
    fail: ['servers'],
    act: (page) => page.getByText('could not be read').waitFor(),
  },
  'a rule in the form': {
    hash: '#/rules/playwright?tool=browser_navigate',
    act: async (page) => {
      await page.getByTestId('builder-add-limit').click();
      await page.getByTestId('builder-add-require').click();
      await page.getByTestId('builder-path').first().fill('args.url');
      await page.getByTestId('builder-value').first().fill('https://example.org');
      await page.getByTestId('diff').waitFor();
      await page
        .getByTestId('effect')
        .getByText(/Refuses \d+ calls? more|decided differently/)
        .waitFor();
    },
  },
  'the policy as text': { hash: '#/rules/playwright', act: (page) => page.getByTestId('rules-tab-text').click() },
  'a broken policy': { hash: '#/rules/notes', act: (page) => page.locator('.cm-lintRange-error').waitFor() },
  'a call tried': {
    hash: '#/rules/playwright',
    act: async (page) => {
      await page.getByTestId('rules-tab-try').click();
      await page.getByTestId('try-tool').fill('browser_evaluate');
      await page.locator('[data-decision=denied]').waitFor();
    },
  },
  versions: {
    hash: '#/rules/playwright',
    act: async (page) => {
      await page.getByTestId('rules-tab-versions').click();
      await page.getByTestId('version-open').first().click();
      await page.getByTestId('diff').waitFor();
    },
  },
  'rules cannot be read': {
    hash: '#/rules/filesystem',
    fail: ['rules'],
    act: (page) => page.getByText('could not be read').waitFor(),
  },
  'history about to be deleted': {
    hash: '#/settings',
    act: async (page) => {
      await page.getByTestId('settings-days').fill('none');
      await page.getByTestId('settings-megabytes').focus();
      await page.getByTestId('settings-delete').click();
      await page.getByTestId('delete-word').waitFor();
    },
  },
  help: { hash: '#/servers', act: (page) => page.getByTestId('rail-help').click() },
  palette: {
    hash: '#/servers',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByTestId('palette-input').fill('file');
      await page.getByTestId('server-filesystem').first().waitFor();
    },
  },
};

export const checks = () => ({
  ...accessible(places),

  'a server is paused with one click and resumed after a question': (env) =>
    on(env, { hash: '#/servers', live: ['filesystem'] }, async (page) => {
      await card(page, 'filesystem').getByTestId('server-pause').click();
      await card(page, 'filesystem').getByText('Paused', { exact: true }).waitFor();
      await card(page, 'filesystem').getByTestId('server-resume').click();
      await answer(page, 'yes');
      await card(page, 'filesystem').getByText('Enforcing').waitFor();
    }),

  'a server is blocked as a whole': (env) =>
    on(env, { hash: '#/servers' }, async (page) => {
      await card(page, 'filesystem').getByTestId('server-more').click();
      await page.getByTestId('server-block').click();
      await toast(page, /Blocked every tool of filesystem/).waitFor();
    }),

  'a server is stopped and started again': (env) =>
    on(env, { hash: '#/servers/recorder', recording: 'claude-ai' }, async (page) => {
      await card(page, 'recorder').getByTestId('server-stop').click();
      await page.getByTestId('loss').getByText('actions stay saved in Callgate').waitFor();
      await page.getByTestId('loss-go').click();
      await card(page, 'recorder').getByTestId('server-state').getByText('stopped by you').waitFor();
      await card(page, 'recorder').getByTestId('server-start').click();
      await card(page, 'recorder').getByTestId('server-restart').waitFor();
    }),

  'a recording that an agent may clear is kept with one click, which can be undone': (env) =>
    on(env, { hash: '#/servers', recording: 'claude-ai' }, async (page) => {
      const said = card(page, 'recorder').getByTestId('codegen-clearing');
      await said.getByText('The agent may clear this: 9 actions would be gone from the server.').waitFor();
      await page.getByTestId('codegen-keep').click();
      await said.getByText('Clearing is refused until it has ended.').waitFor();
      await toast(page, /Clearing a recording on recorder is refused/).waitFor();
      await page.keyboard.press('u');
      await said.getByText('The agent may clear this').waitFor();
    }),

  'a long name of a client gives way to what can be done with its recording': (env) =>
    on(
      env,
      { hash: '#/servers', width: 760, recording: 'a-client-whose-name-is-also-long/1.0.0-beta' },
      async (page) => {
        const row = page.getByTestId('codegen-session').first();
        await row.getByText('a-client-whose-name').waitFor();
        const [name, button] = await Promise.all(
          [row.locator('.what'), row.getByTestId('codegen-export')].map((one) => one.boundingBox()),
        );
        assert.ok(name.x + name.width <= button.x, `${name.x + name.width} is over ${button.x}`);
      },
    ),

  'a test is written where the person says': (env) =>
    on(env, { hash: '#/servers', recording: 'claude-ai' }, async (page, world) => {
      await page.getByTestId('codegen-export').first().click();
      await until(async () => (await page.getByTestId('export-path').inputValue()) !== '', 'a place is proposed');
      // Only its name is selected: typing keeps the folder and the ending.
      await page.keyboard.type('login');
      await page.keyboard.press('Enter');
      await toast(page, `Wrote a test of 9 actions to ${world.person}/Downloads/login.spec.ts`).waitFor();
    }),

  'what ends with everything is said before it is stopped': (env) =>
    on(env, { hash: '#/activity', recording: 'claude-ai' }, async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByTestId('palette-input').fill('stop everything');
      await page.getByTestId('do-stop').waitFor();
      await page.keyboard.press('Enter');
      await page.getByTestId('loss').getByText('its 9 actions stay saved in Callgate').waitFor();
      await page.getByTestId('loss-go').click();
      await page.getByTestId('pause-banner').waitFor();
    }),

  'a primary button stays readable under the pointer': async (env) => {
    for (const theme of ['light', 'dark'])
      await on(env, { hash: '#/clients', clients: true, theme }, async (page) => {
        const button = page.getByTestId('clients-protect');
        const look = () => button.evaluate((one) => getComputedStyle(one).backgroundColor);
        await button.waitFor();
        const before = await look();
        await button.hover();
        await settled(page);
        assert.equal(await look(), before, theme);
      });
  },

  'a tree is not ended without a question': (env) =>
    on(env, { hash: '#/servers/filesystem', live: ['filesystem'] }, async (page, world) => {
      const end = card(page, 'filesystem').getByTestId('end-tree').first();
      await end.click();
      await page.getByTestId('loss').getByText('as if it had ended by itself').waitFor();
      await page.getByTestId('loss-stay').click();
      await page.getByTestId('loss').waitFor({ state: 'detached' });
      assert.equal(await end.isEnabled(), true, 'nothing was ended');
      await end.click();
      let over = false;
      void world.sessions[0].ended.then(() => (over = true));
      await page.getByTestId('loss-go').click();
      // The gate goes with its server, sooner or later than the page looks again: there is no button, or nothing to end by it.
      await page
        .locator('[data-testid=server-filesystem] [data-testid=end-tree]:enabled')
        .waitFor({ state: 'detached' });
      await until(() => over, 'the session is over');
    }),

  'a crash loop and what a limit ended are told, and started from where they are told': (env) =>
    on(env, { hash: '#/servers', live: ['filesystem', 'github'] }, async (page, world) => {
      await page.getByTestId('servers').waitFor();
      await fall(world);
      await card(page, 'filesystem').getByTestId('server-state').getByText('crash loop').waitFor();
      await card(page, 'filesystem').getByTestId('server-open').click();
      await card(page, 'filesystem').getByTestId('server-session').getByText('crash loop').first().waitFor();
      await card(page, 'github').getByTestId('server-state').getByText('ended by its limits').waitFor();
      await card(page, 'github').getByTestId('server-stand').getByText('11 processes').waitFor();
      await card(page, 'filesystem').getByTestId('server-stand-start').focus();
      await world.answer('servers', null);
      await page.keyboard.press('Enter');
      await card(page, 'filesystem').getByTestId('server-state').getByText('running').waitFor();
    }),

  'what a dead session left is ended with one click': (env) =>
    on(env, { hash: '#/settings' }, async (page, world) => {
      await leave(world);
      await page.getByTestId('rail-servers').click();
      await page.getByTestId('leftovers').getByText('6 browser processes of a session of playwright').waitFor();
      const words = '6 processes of dead sessions ended';
      await world.answer('sweep', { ok: { words, ended: [], profiles: [] } });
      await page.getByTestId('leftovers-end').click();
      await toast(page, /6 processes of dead sessions ended/).waitFor();
      await world.answer('strays', null);
      await page.getByTestId('leftovers').waitFor({ state: 'detached' });
    }),

  'what a server wrote to stderr is shown, not obeyed': (env) =>
    on(env, { hash: '#/servers/playwright', live: ['playwright'] }, async (page, world) => {
      await page.getByTestId('stderr').getByText('U+202E').waitFor();
      const { sessions } = (await world.invoke('servers')).find(({ name }) => name === 'playwright');
      assert.equal(await card(page, 'playwright').getByTestId('server-session').count(), sessions.length);
    }),

  'settings are saved at once; what cannot be is said at its field': (env) =>
    on(env, { hash: '#/settings' }, async (page) => {
      await page.getByTestId('settings-days').fill('14');
      await page.getByTestId('settings-days').press('Enter');
      await toast(page, 'Calls are kept for 14 days.').waitFor();
      await page.getByTestId('settings-days').fill('0');
      await page.getByTestId('settings-days').press('Enter');
      await page.getByText('A whole number from 1 to 3,650.').waitFor();
      await page.getByTestId('settings-theme-dark').check({ force: true });
      await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
      assert.equal(await toast(page, /Theme/).count(), 0, 'a theme is seen, not told');
      await page.getByTestId('settings-login').check();
      await toast(page, 'Callgate starts when you log in.').waitFor();
    }),

  'the history is deleted only after the word was typed': (env) =>
    on(env, { hash: '#/settings' }, async (page) => {
      await page.getByTestId('settings-delete').click();
      assert.equal(await page.getByTestId('delete-yes').isEnabled(), false);
      await page.getByTestId('delete-word').fill('delete');
      await page.getByTestId('delete-yes').click();
      await toast(page, 'The history is deleted.').waitFor();
      await page.getByTestId('settings-used').getByText('0 calls').waitFor();
    }),

  'the first start leads to live calls within ten seconds': (env) =>
    on(env, { first: true }, async (page) => {
      await page.getByTestId('welcome-demo').waitFor();
      assert.match(await page.getByTestId('welcome-snippet').textContent(), /"run", "--server", "playwright", "--"/);
      await page.getByTestId('welcome-login-yes').click();
      await page.waitForFunction(() => !document.querySelector('[data-testid=welcome-login]'));
      await page.getByTestId('welcome-demo').click();
      await page.getByTestId('row').first().waitFor({ timeout: 10_000 });
      assert.match(page.url(), /#\/activity/);
    }),

  'a dialog keeps the keyboard, and gives it back where it came from': (env) =>
    on(env, { hash: '#/settings' }, async (page) => {
      const focused = (id) => page.locator(`[data-testid=${id}]:focus`).waitFor();
      await page.getByTestId('settings-delete').focus();
      await page.keyboard.press('Enter');
      await focused('delete-word');
      for (const key of ['Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Tab']) {
        await page.keyboard.press(key);
        const inside = await page.evaluate(() => document.activeElement?.closest('dialog') !== null);
        assert.ok(inside, `still in the dialog after ${key}`);
      }
      await page.keyboard.press('Escape');
      await page.getByTestId('delete-dialog').waitFor({ state: 'detached' });
      await focused('settings-delete');
      await page.getByTestId('rail-help').focus();
      await page.keyboard.press('?');
      await page.getByTestId('help').waitFor();
      await page.keyboard.press('Escape');
      await page.getByTestId('help').waitFor({ state: 'detached' });
      await focused('rail-help');
    }),

  'a section chosen by key leaves no ring on the one that was left': (env) =>
    on(env, { hash: '#/activity' }, async (page) => {
      await page.getByTestId('rail-activity').focus();
      for (const [key, section] of [
        ['4', 'servers'],
        ['7', 'rules'],
        ['2', 'activity'],
      ]) {
        await page.keyboard.press(key);
        await page.locator(`[data-testid=rail-${section}][aria-current=page]`).waitFor();
        assert.equal(await page.locator('nav a:focus').count(), 0, `nothing in the rail has the focus after ${key}`);
        await page.getByTestId(`rail-${section}`).focus();
      }
    }),

  'help and palette open by key, and the palette goes where it says': (env) =>
    on(env, { hash: '#/servers' }, async (page) => {
      await page.getByTestId('servers').waitFor();
      await page.keyboard.press('?');
      await page.getByTestId('help').getByText('I want to…').waitFor();
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('[data-testid=help]'));
      await page.keyboard.press('Control+k');
      await page.getByTestId('palette-input').fill('write_file');
      await page.getByTestId('tool-filesystem-write_file').waitFor();
      await page.keyboard.press('Enter');
      await page.getByTestId('builder').waitFor();
      assert.match(page.url(), /#\/rules\/filesystem\?tool=write_file/);
      await page.keyboard.press('Control+k');
      await page.getByTestId('palette-input').fill('pause all');
      await page.getByTestId('do-pause').waitFor();
      await page.keyboard.press('Enter');
      await page.getByTestId('pause-banner').waitFor();
    }),
});
