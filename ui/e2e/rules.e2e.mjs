// What the rules promise: built without raw text, shown before they are saved, never lost, never overwritten unseen.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { answer, choose, until, visit } from './browser.mjs';

const size = { width: 1280, height: 760, theme: 'light' };

const on = (env, options, check) => visit(env, { ...size, hash: '#/rules/playwright', ...options }, check);

const tool = (page, name) => page.getByTestId(`rule-tool-${name}`);
const state = (page, name) => tool(page, name).getByTestId('rule-state');
const editor = (page) => page.locator('.cm-content');
const toast = (page, text) => page.getByTestId('toast').getByText(text);

/** Types at the end of a line of the policy. */
async function note(page, text, line = 1) {
  await page.getByTestId('rules-tab-text').click();
  await editor(page).click();
  await page.keyboard.press('Control+Home');
  for (let down = 0; down < line; down += 1) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.type(text);
}

/** What a server listed last of its tools is described otherwise. */
function describe(world, server, words) {
  const file = `${world.home}/tools/${server}.json`;
  const listed = JSON.parse(readFileSync(file, 'utf8'));
  for (const tool of listed.tools)
    if (words[tool.name])
      tool.definition = JSON.stringify({ ...JSON.parse(tool.definition), description: words[tool.name] });
  writeFileSync(file, JSON.stringify(listed));
}

export const checks = () => ({
  'rules open on the server that was looked at last, after a restart too': (env) =>
    on(env, { hash: '#/rules/github' }, async (page) => {
      await tool(page, 'create_issue').waitFor();
      await page.getByTestId('rail-settings').click();
      await page.getByTestId('settings-days').waitFor();
      await page.getByTestId('rail-rules').click();
      await page.locator('[data-testid=rules-server][data-value=github]').waitFor();
      await page.evaluate(() => (location.hash = '#/rules'));
      await page.reload();
      await page.locator('[data-testid=rules-server][data-value=github]').waitFor();
    }),

  'all servers are listed, with those that never ran and the default policy, which is saved and undone': (env) =>
    on(env, { clients: true }, async (page) => {
      await page.getByTestId('rules-all').click();
      await page.getByTestId('rules-of-fetch').getByText('never ran yet').waitFor();
      assert.match(
        await page.getByTestId('rules-overview').locator('tbody tr').first().textContent(),
        /Default policy/,
      );
      await page.getByTestId('rules-of-_default').getByRole('link').click();
      await page.getByTestId('rules-default').getByTestId('rule-open').click();
      await page.getByTestId('builder-action-deny').check({ force: true });
      await page.getByTestId('rule-save').click();
      await toast(page, /Saved the default policy/).waitFor();
      const state = page.getByTestId('rules-default').locator('[data-testid=rule-state]');
      await page.locator('[data-testid=rules-default] [data-value=deny]').waitFor();
      await page.getByTestId('undo').click();
      await page.getByTestId('rules-tab-versions').click();
      await page.getByTestId('versions').getByText('undone', { exact: true }).first().waitFor();
      await page.getByTestId('rules-tab-tools').click();
      await page.locator('[data-testid=rules-default] [data-value=allow]').waitFor();
      assert.equal(await state.getAttribute('data-value'), 'allow');
    }),

  'a broken policy says what becomes of calls once, and takes its last good version after a question': (env) =>
    on(env, { live: ['playwright'] }, async (page, world) => {
      const before = readFileSync(world.policy('playwright'), 'utf8');
      world.editPolicy('playwright', '{ "version": ');
      await page
        .getByTestId('rules-broken')
        .getByText(/keeps the last good version/)
        .waitFor();
      assert.equal(await page.getByText(/every call is refused/i).count(), 0);
      await page.getByTestId('rules-last-good').click();
      await answer(page, 'yes');
      await page.getByTestId('rules-broken').waitFor({ state: 'detached' });
      assert.equal(readFileSync(world.policy('playwright'), 'utf8'), before);
    }),

  'numbers in a comment are not painted as numbers, and an error is marked in red at its place': (env) =>
    on(env, {}, async (page) => {
      await note(page, ' // 42 of them');
      const colours = () =>
        page.evaluate(() => {
          const root = document.querySelector('[data-testid=policy-editor]').shadowRoot;
          const comment = [...root.querySelectorAll('.cm-comment')].find((one) => one.textContent.includes('42'));
          const inside = [comment, ...comment.querySelectorAll('*')].map((one) => getComputedStyle(one).color);
          return [...new Set(inside)].length;
        });
      await page.locator('.cm-comment').filter({ hasText: '42' }).waitFor();
      assert.equal(await colours(), 1);
      await page.keyboard.press('Enter');
      await page.keyboard.type('oops');
      await page.locator('.cm-lintRange-error').first().waitFor();
      await page.locator('.cm-lint-marker-error').waitFor();
      await page.getByTestId('text-errors').waitFor();
      await page.locator('[data-testid=policy-editor][data-checked=true]').waitFor();
      assert.equal(
        await page
          .getByTestId('policy-problems')
          .getByText(/^Error/)
          .count(),
        1,
        'said once',
      );
      assert.equal(await page.getByRole('alert').count(), 0);
    }),

  'a rule is built without raw text, shown in words, as a diff and by its effect, and saved': (env) =>
    on(env, {}, async (page) => {
      await tool(page, 'browser_type').getByTestId('rule-open').click();
      await page.getByTestId('builder-add-refuse').click();
      await page.getByTestId('builder-path').fill('args.text');
      await choose(page.getByTestId('builder-op'), 'contains');
      await page.getByTestId('builder-value').fill('password');
      await page.getByTestId('builder-case-reason').fill('no passwords');
      await page.getByTestId('builder-add-limit').click();
      await page.getByTestId('builder-max').fill('12');
      await page.getByTestId('builder-window').fill('hour');
      await page
        .getByTestId('builder-words')
        .getByText('Refused when args.text contains “password”: no passwords')
        .waitFor();
      await page.getByTestId('builder-words').getByText('At most 12 an hour, each client.').waitFor();
      await page.getByTestId('diff').getByText('"password"').waitFor();
      await page
        .getByTestId('effect')
        .getByText(/Refuses \d+ calls? more than today's rules, \d+ fewer\./)
        .waitFor();
      await page.getByTestId('effect-show').click();
      assert.ok((await page.getByTestId('effect-calls').locator('li').count()) > 0);
      await page.getByTestId('rule-save').click();
      await toast(page, /Saved the rules of playwright/).waitFor();
      await page.getByTestId('builder').waitFor({ state: 'detached' });
      assert.equal(await state(page, 'browser_type').getAttribute('data-value'), 'custom');
    }),

  'rules are suggested from use, read with their counts, and applied': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('suggest-ask').click();
      const panel = page.getByTestId('suggest-panel');
      await panel.getByText(/^Drafted from \d+ calls/).waitFor();
      await panel
        .getByTestId('suggest-rules')
        .getByText(/^allowed/)
        .first()
        .waitFor();
      await panel.getByTestId('effect').waitFor();
      await panel.getByTestId('suggest-apply').click();
      const yes = page.getByTestId('question-yes');
      const saved = toast(page, /Saved the rules of playwright/);
      await yes.or(saved).first().waitFor();
      if (await yes.count()) await answer(page, 'yes');
      await saved.waitFor();
      await panel.waitFor({ state: 'detached' });
    }),

  'a ready-made rule that fits the tools is put into the text, and saved from there': (env) =>
    on(env, { hash: '#/rules/filesystem' }, async (page, world) => {
      await page.getByTestId('ready-rules').locator('summary').click();
      assert.equal(await page.getByTestId('ready-output-inside').count(), 0, 'what does not fit is not offered');
      await page.getByTestId('ready-files-read-only').getByTestId('ready-apply').click();
      await page.getByTestId('review').getByText('write_file').first().waitFor();
      assert.doesNotMatch(readFileSync(world.policy('filesystem'), 'utf8'), /edit_file/);
      await page.getByTestId('rule-save').click();
      await toast(page, /Saved the rules of filesystem/).waitFor();
      assert.match(readFileSync(world.policy('filesystem'), 'utf8'), /edit_file/);
    }),

  'the text from before Save does not come back after it': (env) =>
    on(env, {}, async (page) => {
      await note(page, ' // as it was saved');
      await editor(page).evaluate((content) => {
        globalThis.lost = false;
        const look = () => (globalThis.lost ||= !content.textContent.includes('as it was saved'));
        new MutationObserver(look).observe(content, { subtree: true, childList: true, characterData: true });
      });
      await page.getByTestId('rule-save').click();
      await page.getByTestId('rules-unsaved').waitFor({ state: 'detached' });
      assert.equal(await page.evaluate(() => globalThis.lost), false);
    }),

  'a form that is opened during a save has the rule as it was saved': (env) =>
    on(env, { hash: '#/rules/playwright?tool=browser_hover' }, async (page) => {
      await page.getByTestId('builder-action-deny').check({ force: true });
      await page.getByTestId('builder-reason').fill('as it was saved');
      // Both at once: no desk is quick enough to be in between.
      await page.evaluate(() => {
        document.querySelector('[data-testid=rule-save]').click();
        document.querySelector('[data-testid=rule-tool-browser_hover] [data-testid=rule-open]').click();
      });
      await toast(page, /Saved the rules of playwright/).waitFor();
      await page.getByTestId('rules-unsaved').waitFor({ state: 'detached' });
      assert.equal(await page.getByTestId('builder-reason').inputValue(), 'as it was saved');
    }),

  'every path argument is the first choice of a condition, and asks for folders': (env) =>
    on(env, {}, async (page) => {
      await tool(page, 'browser_type').getByTestId('rule-open').click();
      await page.getByTestId('builder-add-require').click();
      const list = page.getByTestId('builder-argument');
      await list.click();
      await page.locator('[role=option][data-value="paths"]').waitFor();
      const choices = (await page.locator('[role=option]').allTextContents()).map((text) => text.trim());
      assert.deepEqual(choices.slice(0, 2), ['any path', 'any URL']);
      await page.locator('[role=option][data-value="paths"]').click();
      assert.equal(await page.getByTestId('builder-path').count(), 0);
      assert.equal(await page.getByTestId('builder-op').getAttribute('data-value'), 'inside');
      await page.getByTestId('builder-value').fill('~/projects');
      await page.getByTestId('builder-words').getByText('Refused unless every path is inside “~/projects”').waitFor();
      await page.getByTestId('diff').getByText('"paths"').waitFor();
    }),

  'a description as long as a page leaves the form in the window': (env) =>
    on(env, { width: 980, height: 640, hash: '#/welcome' }, async (page, world) => {
      describe(world, 'filesystem', {
        read_text_file: 'Reads the complete contents. '.repeat(14),
        write_file: 'x'.repeat(400),
      });
      for (const name of ['read_text_file', 'write_file']) {
        await page.evaluate((to) => (location.hash = to), `#/rules/filesystem?tool=${name}`);
        await page.getByTestId('builder').getByRole('heading', { name }).waitFor();
        for (const id of ['rule-save', 'builder-close', 'builder-client', 'builder-add-refuse']) {
          const box = await page.getByTestId(id).boundingBox();
          assert.ok(box.x >= 0 && box.x + box.width <= 980, `${id} of ${name}: ${box.x} + ${box.width}`);
        }
        const save = await page.getByTestId('rule-save').boundingBox();
        assert.ok(save.y + save.height <= 640, 'Save is above the lower edge');
        await page.getByTestId('builder-close').click();
      }
    }),

  'the default and the rule for all tools are built without raw text, shown by their effect, and asked about when looser':
    (env) =>
      on(env, {}, async (page) => {
        await page.getByTestId('rules-default').getByTestId('rule-open').click();
        await page.getByTestId('builder').getByRole('heading', { name: 'Default' }).waitFor();
        assert.equal(await page.getByTestId('builder-action-ask').count(), 1);
        await page.getByTestId('builder-action-deny').check({ force: true });
        await page.getByTestId('builder-words').getByText('Tools that no rule names are refused.').waitFor();
        await page
          .getByTestId('effect')
          .getByText(/Refuses \d+ calls? more than today's rules, \d+ fewer\./)
          .waitFor();
        await page.getByTestId('effect-show').click();
        assert.ok((await page.getByTestId('effect-tools').locator('li').count()) > 1);
        assert.ok((await page.getByTestId('effect-calls').locator('li').count()) > 12, 'calls of several tools');
        await page.getByTestId('rule-save').click();
        await toast(page, /Saved the rules of playwright/).waitFor();
        await page.waitForFunction(
          () =>
            document.querySelector('[data-testid=rules-default] [data-testid=rule-state]')?.dataset.value === 'deny',
        );

        await choose(page.getByTestId('rules-default').getByTestId('rule-state'), 'allow');
        await page.getByTestId('rule-save').click();
        await answer(page, 'yes');
        await page.waitForFunction(
          () =>
            document.querySelector('[data-testid=rules-default] [data-testid=rule-state]')?.dataset.value === 'allow',
        );

        await page.getByTestId('rules-for-all').getByTestId('rule-open').click();
        await page.getByTestId('builder').getByRole('heading', { name: 'All tools' }).waitFor();
        await page.getByTestId('builder-action-deny').check({ force: true });
        await page.getByTestId('builder-reason').fill('not today');
        await page.getByTestId('rule-save').click();
        await page.getByTestId('builder').waitFor({ state: 'detached' });
        await page.waitForFunction(
          () =>
            document.querySelector('[data-testid=rules-for-all] [data-testid=rule-state]')?.dataset.value === 'deny',
        );
        await tool(page, 'browser_type').getByTestId('rule-open').click();
        await page.getByTestId('builder-to-all').click();
        await page.getByTestId('builder').getByRole('heading', { name: 'All tools' }).waitFor();
      }),

  'choosing a state only proposes it': (env) =>
    on(env, {}, async (page) => {
      await choose(state(page, 'browser_close'), 'deny');
      await page.getByTestId('builder-reason').waitFor();
      await page.getByTestId('builder-close').click();
      assert.equal(await state(page, 'browser_close').getAttribute('data-value'), 'allow');
      assert.equal(await page.getByTestId('toast').count(), 0);
    }),

  'what loosens asks once more, and no means no': (env) =>
    on(env, {}, async (page) => {
      await choose(state(page, 'browser_evaluate'), 'allow');
      await page
        .getByTestId('review')
        .getByText(/Lets more through/)
        .waitFor();
      await page.getByTestId('rule-save').click();
      await answer(page, 'no');
      assert.equal(await page.getByTestId('builder').count(), 1, 'the form is still there');
      await page.getByTestId('rule-save').click();
      await answer(page, 'yes');
      await toast(page, /Saved the rules/).waitFor();
    }),

  'a cap starts with what own use makes likely': (env) =>
    on(env, { hash: '#/rules/filesystem' }, async (page) => {
      await choose(state(page, 'search_files'), 'cap');
      await page.getByTestId('builder-max').waitFor();
      assert.ok(Number(await page.getByTestId('builder-max').inputValue()) >= 5);
      await page.getByTestId('builder-path').count();
      assert.equal(await page.getByTestId('rule-save').isEnabled(), true);
    }),

  'arguments that were really sent are offered': (env) =>
    on(env, { hash: '#/rules/filesystem?tool=edit_file' }, async (page) => {
      await page.getByTestId('builder-add-require').click();
      await page.locator('datalist option[value="args.dryRun"]').first().waitFor({ state: 'attached' });
    }),

  'what is typed into the text stays there, is checked in place, and comments are kept': (env) =>
    on(env, {}, async (page) => {
      await note(page, ' // a note of mine');
      assert.match(await editor(page).innerText(), /"version": "1", \/\/ a note of mine/);
      assert.equal(await page.locator('.cm-lintRange-error').count(), 0, 'comments are no errors');
      await page.getByTestId('review').getByText('1 comment changed').waitFor();
      // Keys of the window mean nothing while somebody types: no help, no other section.
      await page.keyboard.type('?2');
      assert.equal(await page.getByTestId('help').count(), 0);
      assert.match(page.url(), /#\/rules\/playwright/);
      await page.keyboard.press('Control+s');
      await toast(page, /Saved the rules/).waitFor();
      await page.waitForFunction(() => !document.querySelector('[data-testid=rules-unsaved]'));
      await until(async () => /a note of mine\?2/.test(await editor(page).innerText()), 'the text as it was saved');
    }),

  'completion comes from the gate': (env) =>
    on(env, {}, async (page) => {
      await note(page, '\n"bro', 3);
      await page.keyboard.press('Control+Space');
      // By mouse: for a moment after the list came, the editor takes Enter for the end of a line.
      await page.locator('.cm-tooltip-autocomplete').getByText('browser_type').first().click();
      assert.match(await editor(page).innerText(), /"browser_type"/);
    }),

  'a broken policy opens as text with its errors and cannot be saved': (env) =>
    on(env, { hash: '#/rules/notes' }, async (page) => {
      await page
        .getByTestId('policy-problems')
        .getByText(/did you mean "action"/)
        .waitFor();
      await page.locator('.cm-lintRange-error').waitFor();
      await page.getByTestId('policy-problems').getByRole('button').first().click();
      await page.keyboard.type(' ');
      await page.getByTestId('rule-save').waitFor();
      await page.locator('[data-testid=policy-editor][data-checked=true]').waitFor();
      assert.equal(await page.getByTestId('rule-save').isEnabled(), false, 'with an error in it');
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.type('{ "version": "1", "default": "allow" }');
      await page.waitForFunction(() => !document.querySelector('[data-testid=policy-problems]'));
      await page.getByTestId('rule-save').click();
      await answer(page, 'yes');
      await toast(page, /Saved the rules of notes/).waitFor();
      await page.getByText('Tools that no rule names pass.').waitFor();
    }),

  'edits survive other tabs and sections, and leaving is asked about': (env) =>
    on(env, {}, async (page) => {
      await note(page, ' // kept');
      await page.getByTestId('rules-tab-tools').click();
      await page.getByTestId('rules-tab-try').click();
      await page.getByTestId('rules-tab-text').click();
      assert.match(await editor(page).innerText(), /\/\/ kept/);
      await page.getByTestId('rail-servers').click();
      await page.getByTestId('leave-stay').click();
      assert.match(page.url(), /#\/rules/);
      await page.getByTestId('rail-servers').click();
      await page.getByTestId('leave-keep').click();
      await page.getByTestId('servers').waitFor();
      await page.getByTestId('rail-rules').click();
      assert.match(await editor(page).innerText(), /\/\/ kept/);
      await page.getByTestId('rail-servers').click();
      await page.getByTestId('leave-discard').click();
      await page.getByTestId('rail-rules').click();
      await editor(page).waitFor();
      assert.doesNotMatch(await editor(page).innerText(), /\/\/ kept/);
    }),

  'a change made elsewhere is shown, not overwritten': (env) =>
    on(env, {}, async (page, world) => {
      await note(page, ' // mine');
      world.editPolicy('playwright', '{\n  "version": "1",\n  "default": "deny"\n}\n');
      await page.getByTestId('rule-save').click();
      await page.getByTestId('conflict').waitFor();
      await page.getByTestId('conflict').getByTestId('diff').waitFor();
      await page.getByTestId('conflict-mine').click();
      assert.match(await editor(page).innerText(), /\/\/ mine/);
      await page.getByTestId('rule-discard').click();
      await page.waitForFunction(() =>
        document.querySelector('[data-testid=policy-editor]')?.shadowRoot?.textContent?.includes('"deny"'),
      );
    }),

  'try a call says what would happen, by which rule': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('rules-tab-try').click();
      await page.getByTestId('try-tool').fill('browser_navigate');
      await page.getByTestId('try-args').fill('{ "url": "file:///etc/passwd" }');
      await page.locator('[data-testid=try-answer] [data-decision=denied]').waitFor();
      await page.getByTestId('try-answer').getByText('/tools/browser_navigate/deny_if/0').waitFor();
      await page.getByTestId('try-args').fill('{ "url": "https://example.org" }');
      await page.locator('[data-testid=try-answer] [data-decision=allowed]').waitFor();
      await page.getByTestId('try-args').fill('{ no');
      await page
        .getByTestId('try-answer')
        .getByText(/no JSON/)
        .waitFor();
    }),

  'a version shows its diff and can be reverted': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('rules-tab-versions').click();
      await page.getByTestId('version-open').first().click();
      await page.getByTestId('diff').waitFor();
      const [all, revertable] = [
        await page.getByTestId('version-open').count(),
        await page.getByTestId('version-revert').count(),
      ];
      assert.equal(revertable, all - 1, 'all but the first, which has nothing before it');
      await page.getByTestId('version-revert').first().click();
      await answer(page, 'yes');
      await toast(page, /Took back a change of playwright: browser_click is capped/).waitFor();
      await until(async () => (await page.getByTestId('version-open').count()) === all + 1, 'one version more');
    }),

  'keyboard alone: find a tool, open it, save, go back': (env) =>
    on(env, {}, async (page) => {
      await page.getByTestId('rule-tool-browser_hover').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('hover');
      await page.keyboard.press('Enter');
      await page.getByTestId('builder').waitFor();
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('[data-testid=builder]'));
    }),
});
