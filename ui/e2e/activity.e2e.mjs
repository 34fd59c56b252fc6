// What the log promises, by mouse and by keyboard, on the real desk, with calls through the real gate.
import assert from 'node:assert/strict';
import { answer, choose, openCaps, settled, still, until, visit, withClipboard } from './browser.mjs';

const size = { width: 1180, height: 720, theme: 'light' };

const on = (env, options, check) =>
  visit(env, { ...size, ...options }, async (page, world) => {
    await page.getByTestId('row').first().waitFor();
    await check(page, world);
  });

const rows = (page) => page.getByTestId('row');
const calls = (page) => page.locator('[data-testid=row][data-kind=call]');
const passed = (page) => page.locator('[data-testid=row][data-decision=allowed]');
const lastCall = (page) => calls(page).last().getAttribute('data-call');
const away = (page) => page.mouse.move(600, 20);
const newest = async (world) =>
  (await world.invoke('log_page', { filter: {}, from: { kind: 'newest' }, count: 50 })).entries;
const scrollTop = (page) => page.getByTestId('log').evaluate((log) => log.scrollTop);

export const checks = () => ({
  'new calls arrive and the list follows them': (env) =>
    on(env, { rate: 20 }, async (page) => {
      await away(page);
      const before = await lastCall(page);
      await until(async () => (await lastCall(page)) !== before, 'a newer call at the end');
      const [top, max] = await page
        .getByTestId('log')
        .evaluate((log) => [log.scrollTop, log.scrollHeight - log.clientHeight]);
      assert.ok(max - top < 40, `${max - top} px from the end`);
      assert.equal(await page.getByTestId('new-pill').count(), 0);
    }),

  'scrolling up stops following; rows stand still and the pill counts': (env) =>
    on(env, { rate: 20 }, async (page) => {
      await page.getByTestId('log').hover();
      await page.mouse.wheel(0, -1_500);
      await page.getByTestId('new-pill').waitFor();
      await still(page);
      const seen = await rows(page).evaluateAll((all) =>
        all.slice(10, 14).map((row) => [row.dataset.call, row.getBoundingClientRect().top]),
      );
      const told = async () => Number.parseInt((await page.getByTestId('new-pill').textContent()) ?? '', 10);
      await until(async () => (await told()) > 0, 'a pill with a number');
      const before = await told();
      await until(async () => (await told()) > before + 10, 'ten more new ones');
      const after = await rows(page).evaluateAll((all) =>
        all.slice(10, 14).map((row) => [row.dataset.call, row.getBoundingClientRect().top]),
      );
      assert.deepEqual(after, seen);
      await page.getByTestId('new-pill').click();
      await away(page);
      await until(async () => (await page.getByTestId('new-pill').count()) === 0, 'following again');
    }),

  'a window that grows or shrinks, and a banner that goes, leave the list at the newest': (env) =>
    on(env, { rate: 4 }, async (page) => {
      await away(page);
      const left = () => page.getByTestId('log').evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop);
      const follows = async (what) => {
        await settled(page);
        await until(async () => (await left()) < 60, `${what}: at the end`);
        assert.equal(await page.getByTestId('new-pill').count(), 0, what);
      };
      for (const height of [900, 560, 980, 700]) {
        await page.setViewportSize({ width: 1180, height });
        await follows(`at ${height}`);
      }
      // The browser moves the list and says so before the list has heard of its new size, as WebKit does.
      await page.getByTestId('log').evaluate((log) => {
        log.parentElement.parentElement.style.marginBottom = '-120px';
        log.scrollTop -= 120;
        log.dispatchEvent(new Event('scroll'));
      });
      await follows('after a clamp');
    }),

  'down to the newest by key is following again; what is out of sight is shown before a key acts on it': (env) =>
    on(env, { hash: '#/activity?decision=allowed' }, async (page) => {
      await away(page);
      for (const key of ['k', 'k', 'k']) await page.keyboard.press(key);
      await page.getByTestId('new-pill').waitFor();
      for (const key of ['j', 'j']) await page.keyboard.press(key);
      await until(async () => (await page.getByTestId('new-pill').count()) === 0, 'following again');
      await page.keyboard.press('k');
      const id = await page.locator('[data-testid=row][aria-selected=true]').getAttribute('data-call');
      await page.getByTestId('log').hover();
      await page.mouse.wheel(0, -1_500);
      await still(page);
      const seen = () =>
        page.getByTestId('log').evaluate((log, call) => {
          const row = log.querySelector(`[data-call="${call}"]`)?.getBoundingClientRect();
          return row !== undefined && row.bottom <= log.getBoundingClientRect().bottom + 1;
        }, id);
      assert.equal(await seen(), false, 'the chosen row is out of sight');
      await page.keyboard.press('b');
      await until(seen, 'the chosen row');
      assert.equal(await page.getByTestId('toast').count(), 0, 'shown, and nothing else');
      await page.keyboard.press('b');
      await page
        .getByTestId('toast')
        .getByText(/^Blocked/)
        .waitFor();
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press('Home');
      await until(async () => (await scrollTop(page)) < 5_000, 'far up, with the focus nowhere');
      await page.keyboard.press('End');
      await until(async () => (await page.getByTestId('new-pill').count()) === 0, 'the newest again');
    }),

  'block by key on a refused call says that it is refused': (env) =>
    on(env, { hash: '#/activity?tool=delete_file' }, async (page) => {
      await page.keyboard.press('k');
      await page.getByTestId('row-blocked').waitFor();
      await page.keyboard.press('b');
      await page
        .getByTestId('toast')
        .getByText(/is blocked already/)
        .waitFor();
    }),

  'rows do not move under the pointer': (env) =>
    on(env, { rate: 30 }, async (page) => {
      const box = await page.getByTestId('log').boundingBox();
      await page.mouse.move(box.x + 400, box.y + 200);
      await page.mouse.move(box.x + 402, box.y + 202);
      const before = await scrollTop(page);
      await page.getByTestId('new-pill').waitFor();
      assert.equal(await scrollTop(page), before);
    }),

  'rows hold still for as long as the pointer rests on one, and the pill says what waits': (env) =>
    on(env, { rate: 30 }, async (page) => {
      await passed(page).last().hover();
      const at = () =>
        page.evaluate(() => {
          const row = document.querySelector('[data-testid=row]:hover');
          return [row?.dataset.call, row?.getBoundingClientRect().top];
        });
      const before = await at();
      assert.ok(before[0], 'the pointer is on a row');
      const waits = async () => Number.parseInt((await page.getByTestId('new-pill').textContent()) ?? '0', 10);
      await page.getByTestId('new-pill').waitFor();
      // At thirty a second this is some six seconds.
      await until(async () => (await waits()) > 180, 'many new ones');
      assert.deepEqual(await at(), before);
      await away(page);
      await until(async () => (await page.getByTestId('new-pill').count()) === 0, 'following again');
    }),

  'buttons of a row cover neither its decision nor its tool, at any width': (env) =>
    on(env, { hash: '#/activity?decision=allowed' }, async (page) => {
      for (const width of [1280, 980, 720]) {
        await page.setViewportSize({ width, height: 640 });
        await settled(page);
        await away(page);
        await passed(page).last().hover();
        await page.keyboard.press('k');
        const boxes = await page.evaluate(() => {
          const row = document.querySelector('[data-testid=row][aria-selected=true]');
          const box = (part) => row.querySelector(part).getBoundingClientRect();
          const [acts, decision, tool] = ['.acts', '.decision', '.tool'].map(box);
          const top = document.elementFromPoint(decision.left + 12, decision.top + decision.height / 2);
          return { acts, decision, tool, seen: top?.closest('.decision') !== null };
        });
        assert.ok(boxes.seen, `the decision is seen at ${width}`);
        assert.ok(boxes.acts.right <= boxes.decision.left + 1, `${width}: ${JSON.stringify(boxes)}`);
        assert.ok(
          boxes.acts.left + 28 >= boxes.tool.left + 40,
          `${width}: the tool is named: ${JSON.stringify(boxes)}`,
        );
      }
    }),

  'block acts at once, is enforced, takes a reason, and the next call is refused': (env) =>
    on(env, { rate: 12, hash: '#/activity?server=postgres' }, async (page) => {
      await passed(page).last().hover();
      await page.getByTestId('row-block').first().click();
      const toast = page.getByTestId('toast').first();
      await toast.getByText('Blocked query on postgres, for Cursor').waitFor();
      await page.getByTestId('reason').fill('ask me first');
      await page.getByTestId('reason').press('Enter');
      await toast.getByText('ask me first').waitFor();
      await toast.getByText(/enforced in 1 of 1 session/).waitFor();
      await away(page);
      await page.locator('[data-testid=row][data-decision=denied]').last().waitFor();
    }),

  'undo takes it back': (env) =>
    on(env, {}, async (page) => {
      await passed(page).last().hover();
      await page.getByTestId('row-block').first().click();
      await page.getByTestId('undo').click();
      await page
        .getByTestId('toast')
        .getByText(/^Undone: Blocked/)
        .waitFor();
      await page
        .locator('[data-testid=row][data-kind=change]')
        .last()
        .getByText(/\(undone\)/)
        .waitFor();
    }),

  'cap offers advice from own use, and a cap of one’s own': (env) =>
    on(env, {}, async (page) => {
      await passed(page).last().hover();
      await openCaps(page);
      await page
        .getByTestId('cap-advised')
        .getByText(/your peak is \d+\/min: cap at \d+\/min/)
        .waitFor();
      await page.getByTestId('cap-custom').click();
      await page.getByTestId('cap-max').fill('3');
      await choose(page.getByTestId('cap-window'), 'hour');
      await page.getByTestId('sheet-ok').click();
      await page
        .getByTestId('toast')
        .getByText(/at 3 per hour/)
        .waitFor();
    }),

  'a tool that is blocked by now is not offered to be blocked again': (env) =>
    on(env, { hash: '#/activity?decision=allowed&server=filesystem' }, async (page) => {
      await calls(page)
        .last()
        .click({ position: { x: 40, y: 14 } });
      await page.getByTestId('drawer-block').click();
      await page.getByTestId('drawer-blocked').getByText('Blocked now').waitFor();
      assert.equal(await page.getByTestId('drawer-block').count(), 0);
      await page.getByTestId('drawer-allow').click();
      await page.getByTestId('allow').click();
      await answer(page, 'yes');
      await page.getByTestId('drawer-block').waitFor();
    }),

  'calls that failed are one filter, in the address, in the log and in runs': (env) =>
    on(env, {}, async (page, world) => {
      await page.getByTestId('filter-failed').click();
      await page.waitForFunction(() => location.hash.includes('ended=failed'));
      const endings = async () => {
        const shown = await rows(page).evaluateAll((all) => all.map((row) => row.dataset.call));
        return Promise.all(shown.map(async (id) => (await world.invoke('call', { id })).line.outcome));
      };
      await until(async () => {
        const all = await endings();
        return all.length > 0 && all.every((one) => one === 'tool_error' || one === 'rpc_error');
      }, 'only failed calls are shown');
      await page.getByRole('button', { name: 'Denied', exact: true }).click();
      await page.waitForFunction(() => !location.hash.includes('ended='));
      await page.getByTestId('filter-failed').click();
      await page.waitForFunction(() => !location.hash.includes('decision='));
      await page.getByTestId('view-runs').click();
      await page.getByTestId('runs').locator('tbody tr').first().waitFor();
      const failed = await page.getByTestId('runs').locator('tbody tr td:last-child').allInnerTexts();
      assert.ok(
        failed.every((count) => Number(count) > 0),
        failed.join(' '),
      );
      assert.match(await page.getByTestId('run-more-tools').first().innerText(), /^\+ \d+ more$/);
    }),

  'loosening asks; an answer in the first moment does not count': (env) =>
    on(env, { hash: '#/activity?decision=denied&tool=merge_pull_request' }, async (page) => {
      await calls(page).last().hover();
      await page.getByTestId('row-allow').first().click();
      const hint = await page.getByTestId('allow-for').locator('.hint').innerText();
      assert.match(hint, /^for \S/);
      await page.getByTestId('allow-for').click();
      const yes = page.getByTestId('question-yes');
      await yes.waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.dataset.testid), 'question-no');
      const tall = await page.locator('dialog[open]').evaluate((dialog) => {
        const last = dialog.querySelector('[data-testid=question-yes]').getBoundingClientRect();
        const box = dialog.getBoundingClientRect();
        const style = dialog.computedStyleMap();
        return { below: box.bottom - last.bottom, height: box.height, content: style.get('align-content').toString() };
      });
      assert.ok(tall.below < 40 && tall.height < 400, `as high as what it holds: ${JSON.stringify(tall)}`);
      assert.equal(tall.content, 'start');
      // A slow machine may have let the moment pass: then there is nothing to see.
      await yes.evaluate((button) => button.getAttribute('aria-disabled') === 'true' && button.click());
      assert.equal(await yes.count(), 1, 'the dialog is still there');
      await answer(page, 'yes');
      await page.getByTestId('allowance').getByText(`is allowed ${hint}`).waitFor();
      await page.getByTestId('end-allowance').click();
      await until(async () => (await page.getByTestId('allowance').count()) === 0, 'the allowance ends');
    }),

  'pause shows a banner, resume asks': (env) =>
    on(env, { rate: 8 }, async (page) => {
      await page.getByTestId('pause-all').click();
      await page.getByTestId('pause-banner').waitFor();
      await page.locator('[data-testid=row][data-decision=paused]').first().waitFor();
      await page.getByTestId('resume').click();
      await answer(page, 'yes');
      await until(async () => (await page.getByTestId('pause-banner').count()) === 0, 'the banner goes');
    }),

  'search is in the address and comes back with it': (env) =>
    on(env, {}, async (page) => {
      await page.keyboard.press('/');
      await page.keyboard.type('drop table');
      await until(async () => page.url().includes('q=drop+table'), 'the search in the address');
      await until(
        async () => (await rows(page).allTextContents()).every((text) => text.includes('drop table')),
        'only matching rows',
      );
      await page.reload();
      await page.getByTestId('row').first().waitFor();
      assert.equal(await page.getByTestId('search').inputValue(), 'drop table');
    }),

  'a pasted id finds its call': (env) =>
    on(env, {}, async (page) => {
      const id = await calls(page).first().getAttribute('data-call');
      await page.getByTestId('search').fill(id);
      await until(async () => (await rows(page).count()) === 1, 'one row');
    }),

  'the whole history can be reached by the scroll bar, up to its first call': (env) =>
    on(env, { calls: 60_000 }, async (page) => {
      await until(() => page.getByTestId('log').evaluate((log) => log.scrollHeight > 1_000_000), 'a long bar');
      const log = page.getByTestId('log');
      for (const share of [0.5, 0.2, 0.8, 0]) {
        await log.evaluate((element, part) => (element.scrollTop = element.scrollHeight * part), share);
        await until(async () => {
          const box = await log.boundingBox();
          const tops = await rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().top));
          return tops.some((top) => top > box.y && top < box.y + box.height);
        }, `rows at ${share}`);
      }
      await until(async () => {
        await log.evaluate((element) => (element.scrollTop = 0));
        return (await rows(page).first().getAttribute('aria-rowindex')) === '2';
      }, 'the very first row');
      await page.keyboard.press('f');
      await until(async () => (await page.getByTestId('new-pill').count()) === 0, 'back at the newest');
    }),

  'equal refusals fold into one row': (env) =>
    on(env, { hash: '#/activity?tool=delete_file' }, async (page) => {
      await until(
        async () => (await rows(page).allTextContents()).some((text) => /× 4\d\d/.test(text)),
        'a fold of some four hundred',
      );
    }),

  'an argument becomes a rule': (env) =>
    on(env, { hash: '#/activity?tool=browser_navigate&decision=allowed' }, async (page) => {
      await calls(page).last().click();
      await page.locator('[data-testid=value-menu][data-path="args.url"]').click();
      await page.getByTestId('value-prefix').click();
      assert.match(await page.getByTestId('sheet-value').inputValue(), /^https?:$/);
      await page.getByTestId('sheet-ok').click();
      await page
        .getByTestId('toast')
        .getByText(/args.url starts with "http/)
        .waitFor();
    }),

  'a rule change can be reverted from its row': (env) =>
    on(env, { hash: '#/activity?only=changes' }, async (page) => {
      await page.getByTestId('row-revert').last().click();
      await answer(page, 'yes');
      await page
        .getByTestId('toast')
        .getByText(/^Took back a change of filesystem/)
        .waitFor();
    }),

  'a run opens as the calls it was made of': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('view-runs').click();
      const first = page.locator('[data-testid=runs] tbody tr').nth(1);
      const said = Number((await first.locator('td').nth(5).textContent()).replace(/\D/g, ''));
      await first.click();
      await until(
        async () => (await page.getByText(new RegExp(`^${said} calls?,`)).count()) > 0,
        `${said} calls counted`,
      );
      // From its start on, which is in sight.
      await page.locator('[data-testid=row][aria-selected=true]').waitFor();
      assert.equal(await rows(page).first().getAttribute('aria-selected'), 'true', 'its first entry is chosen');
      assert.equal(await scrollTop(page), 0);
    }),

  'export names its file': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('export').click();
      await page.getByTestId('export-csv').click();
      await page
        .getByTestId('toast')
        .getByText(/Exported [\d,]+ calls to .*\.csv/)
        .waitFor();
      const copied = await withClipboard(env, async () => {
        await page.getByRole('button', { name: 'Copy path' }).click();
        return page.evaluate(() => navigator.clipboard.readText());
      });
      assert.match(copied, /\.csv$/);
      await page.getByTestId('toast').getByTestId('reveal').getByText('Show in folder').waitFor();
    }),

  'hostile text is shown, not obeyed': (env) =>
    on(env, { hash: '#/activity?q=Ignore' }, async (page) => {
      await calls(page).last().click();
      await page.getByTestId('drawer').getByText('U+202E').first().waitFor();
    }),

  'keyboard alone: move, open, block, undo, filter, sections': (env) =>
    on(env, { hash: '#/activity?decision=allowed' }, async (page) => {
      await page.keyboard.press('k');
      await page.keyboard.press('k');
      const chosen = page.locator('[data-testid=row][aria-selected=true]');
      await chosen.waitFor();
      const id = await chosen.getAttribute('data-call');
      await page.keyboard.press('j');
      assert.notEqual(await chosen.getAttribute('data-call'), id);
      await page.getByTestId('log').focus();
      await page.keyboard.press('Enter');
      await page.getByTestId('drawer').waitFor();
      await page.keyboard.press('Escape');
      await until(async () => (await page.getByTestId('drawer').count()) === 0, 'the drawer closes');
      await page.keyboard.press('b');
      await page
        .getByTestId('toast')
        .getByText(/^Blocked/)
        .waitFor();
      await page.keyboard.press('u');
      await page
        .getByTestId('toast')
        .getByText(/^Undone/)
        .waitFor();
      // The row hears of the undo a moment after the person does; the key acts all the same.
      await page.keyboard.press('c');
      await page.getByTestId('cap-custom').waitFor();
      await page.keyboard.press('ArrowDown');
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'menuitem');
      await page.keyboard.press('Escape');
      await page.keyboard.press('4');
      await until(async () => page.url().includes('#/servers'), 'servers');
      await page.keyboard.press('2');
      await until(async () => page.url().includes('#/activity'), 'activity');
      await page.keyboard.press('/');
      await page.keyboard.type('b2');
      assert.equal(await page.getByTestId('search').inputValue(), 'b2', 'keys are letters while somebody types');
    }),

  'what keeps the log from being followed is said, and calls come again when it is over': (env) =>
    on(env, { rate: 20 }, async (page, world) => {
      await away(page);
      const { rev } = (await newest(world)).at(-1);
      const problem = 'The record is locked by another program.';
      await world.answer('followed', { ok: { entries: [], rev, skipped: 0, reset: false, problem } });
      await page.getByTestId('log-trouble').getByText('The record is locked by another program.').waitFor();
      const before = await lastCall(page);
      await world.answer('followed', null);
      await page.getByTestId('log-trouble').waitFor({ state: 'detached' });
      await until(async () => (await lastCall(page)) !== before, 'a newer call at the end');
    }),

  'a log that cannot be followed at all says so, and shows what it has': (env) =>
    on(env, { fail: ['follow'] }, async (page) => {
      await page.getByTestId('log-trouble').getByText('the disk is full').waitFor();
      assert.ok((await rows(page).count()) > 5);
    }),

  'runs by keyboard and within a stretch of time': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('view-runs').click();
      const runs = page.locator('[data-testid=runs] tbody tr');
      await runs.first().waitFor();
      const all = await runs.count();
      await choose(page.getByTestId('filter-range'), '1h');
      // None are there while they are read.
      const fewer = async () => [await runs.count()].every((some) => some > 1 && some < all);
      await until(fewer, 'fewer runs in the last hour');
      await page.getByTestId('view-runs').focus();
      await page.keyboard.press('k');
      await page.keyboard.press('k');
      assert.equal(await runs.nth(-2).locator(':focus').count(), 1, 'the run before the newest');
      await page.keyboard.press('Enter');
      await until(async () => page.url().includes('session='), 'the calls of the run');
    }),

  'End and Home take the selection along': (env) =>
    on(env, {}, async (page, world) => {
      await away(page);
      for (const key of ['k', 'k', 'k', 'k', 'k']) await page.keyboard.press(key);
      const chosen = page.locator('[data-testid=row][aria-selected=true]');
      await page.getByTestId('log').focus();
      await page.keyboard.press('Home');
      await until(
        async () => (await chosen.count()) === 1 && (await chosen.getAttribute('aria-rowindex')) === '2',
        'the first',
      );
      const last = (await newest(world)).at(-1);
      await page.keyboard.press('End');
      await page.locator(`[data-testid=row][aria-selected=true][data-call="${last.id}"]`).waitFor();
    }),

  'the ring around the list is whole': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('log').focus();
      await page.keyboard.press('ArrowUp');
      const ring = await page.getByTestId('log').evaluate((log) => {
        const style = getComputedStyle(log.parentElement, '::after');
        return [style.borderTopWidth, style.borderLeftWidth, Number(style.zIndex) > 2];
      });
      assert.deepEqual(ring, ['2px', '2px', true]);
    }),

  'the search does not jump when nothing matches, and a toast covers no row': (env) =>
    on(env, {}, async (page) => {
      const top = async () => (await page.getByTestId('search').boundingBox()).y;
      const before = await top();
      await page.getByTestId('search').fill('nothing-is-called-like-this');
      await page.getByText('Nothing matches').waitFor();
      assert.equal(await top(), before);
      await page.getByTestId('search').fill('');
      await passed(page).last().hover();
      await page.getByTestId('row-block').first().click();
      await page.getByTestId('toast').first().waitFor();
      await settled(page);
      const toast = await page.getByTestId('toast').first().boundingBox();
      const log = await page.getByTestId('log').boundingBox();
      assert.ok(toast.y + toast.height <= log.y + 28, `${JSON.stringify({ toast, log })}`);
    }),

  'a row of several calls opens and closes by a click': (env) =>
    on(env, { hash: '#/activity?tool=delete_file' }, async (page) => {
      const row = page.locator('[data-testid=row]', { hasText: /× 4\d\d/ }).first();
      await row.getByTestId('row-fold').click();
      await page.locator('[data-testid=row][data-part]').first().waitFor();
      await row.getByTestId('row-fold').click();
      await until(async () => (await page.locator('[data-testid=row][data-part]').count()) === 0, 'closed again');
    }),

  'columns are dragged wider and narrower, stay so, and go back by a double click': (env) =>
    on(env, {}, async (page) => {
      const width = async (column) => (await page.getByTestId(`column-${column}`).boundingBox()).width;
      const cell = async () => (await calls(page).last().locator('.client').boundingBox()).width;
      const drag = async (column, by) => {
        const grip = await page.getByTestId(`grip-${column}`).boundingBox();
        const [x, y] = [grip.x + grip.width / 2, grip.y + grip.height / 2];
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(x + by / 2, y);
        await page.mouse.move(x + by, y);
        await page.mouse.up();
      };
      // Columns take what their rows need: the rows have to be there before anything is measured.
      await calls(page).last().waitFor();
      await still(page);
      const [client, decision] = [await width('client'), await width('decision')];
      await drag('client', 60);
      // Behind the arguments it is the left edge that moves.
      await drag('decision', 30);
      assert.ok(Math.abs((await width('client')) - client - 60) < 2, 'wider by what it was dragged');
      assert.ok(Math.abs((await width('decision')) - decision + 30) < 2, 'narrower by what it was dragged');
      assert.equal(await cell(), await width('client'), 'rows follow their headings');
      await page.reload();
      await page.getByTestId('row').first().waitFor();
      assert.ok(Math.abs((await width('client')) - client - 60) < 2, 'the next time, too');
      await page.getByTestId('grip-client').dblclick();
      await until(async () => Math.abs((await width('client')) - client) < 2, 'its own width again');
    }),

  'a long name takes free room before it is cut': (env) =>
    on(env, { width: 1500, hash: '#/activity?q=resolve' }, async (page) => {
      await until(async () => (await calls(page).count()) > 0, 'calls with long names');
      await still(page);
      const cut = await calls(page)
        .locator('.client .head, .server .head, .tool .head')
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.parentElement.textContent),
        );
      const room = (await calls(page).last().locator('.gist').boundingBox()).width;
      assert.ok(cut.length === 0 || room < 280, `${cut[0]} is cut beside ${room} px of arguments`);
    }),

  'a small window shows who called, whole headings, and that there are more filters': (env) =>
    on(env, { width: 720, height: 480 }, async (page) => {
      for (const width of [720, 640]) {
        await page.setViewportSize({ width, height: 480 });
        await settled(page);
        const heads = await page
          .locator('.head .word')
          .evaluateAll((all) => all.map((one) => [one.textContent, one.scrollWidth <= one.clientWidth]));
        assert.ok(
          heads.some(([word]) => word === 'Client'),
          `${width}: who called`,
        );
        assert.deepEqual(
          heads.filter(([, whole]) => !whole),
          [],
          `${width}: whole headings`,
        );
        const chips = await page.locator('.chips').evaluate((all) => ({
          more: all.scrollWidth > all.clientWidth,
          fades: getComputedStyle(all).maskImage.includes('gradient'),
        }));
        assert.ok(!chips.more || chips.fades, `${width}: what is cut fades`);
      }
    }),

  'two loops that take turns are two rows that stay where they are': (env) =>
    on(env, { live: ['github', 'filesystem'] }, async (page, world) => {
      await away(page);
      const denied = { github: 'merge_pull_request', filesystem: 'delete_file' };
      const turn = async (times) => {
        for (let n = 0; n < times; n += 1)
          for (const session of world.sessions) await session.call(denied[session.server], { path: 'the same' });
      };
      await turn(150);
      const loops = (times) => rows(page).filter({ hasText: `× ${times}` });
      await until(async () => (await loops(150).count()) === 2, 'two rows');
      const places = () => loops('').evaluateAll((all) => all.slice(-2).map((row) => row.getBoundingClientRect().top));
      const before = await places();
      await turn(50);
      await until(async () => (await loops(200).count()) === 2, 'the same two rows');
      assert.deepEqual(await places(), before, 'where they were');
    }),

  'a call that runs is cancelled from its drawer': (env) =>
    on(env, { live: ['filesystem'] }, async (page, world) => {
      await away(page);
      const [session] = world.sessions;
      const over = session.call('read_text_file', { path: '/home/ada/slow', hold: true });
      const row = page.getByTestId('row').filter({ hasText: '/home/ada/slow' });
      await row.click();
      await page.getByTestId('drawer-cancel').click();
      await page.getByTestId('drawer').getByText('Cancelled by you').first().waitFor();
      await page.getByTestId('drawer-cancel').waitFor({ state: 'detached' });
      assert.match(JSON.stringify(await over), /cancel/i, 'the agent was told');
    }),

  'a verb and a tool typed into the palette is the act': (env) =>
    on(env, {}, async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByTestId('palette-input').fill('block query');
      await page.getByTestId('block-postgres-query').waitFor();
      await page.keyboard.press('Enter');
      await page
        .getByTestId('toast')
        .getByText(/^Blocked query on postgres/)
        .waitFor();
    }),

  // How smoothly is measured in the real app, by `cargo xtask bench`.
  'two hundred calls a second leave few rows in the page and the newest in sight': (env) =>
    on(env, { rate: 200 }, async (page, world) => {
      await away(page);
      await until(() => world.calls > 600, 'calls at that rate');
      const rows = await page.getByTestId('row').count();
      assert.ok(rows > 0 && rows < 80, `${rows} rows in the page`);
      const shown = await lastCall(page);
      await until(async () => (await lastCall(page)) !== shown, 'a newer call at the end');
    }),
});
