// The sections in the whole window, on the in-memory backend.
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import Root from '../App.svelte';
import { App } from '../lib/app.svelte';
import { fakeBackend, type FakeBackend } from '../lib/backend/fake';

// A busy machine needs its time to compile the sections.
vi.setConfig({ testTimeout: 60_000 });

let fake: FakeBackend;

function start(hash: string, calls = 120, fail: string[] = []): App {
  history.replaceState(null, '', hash);
  fake = fakeBackend({ calls, rate: 0, fail });
  const app = new App(fake);
  render(Root, { props: { app } });
  return app;
}

beforeEach(() => {
  Element.prototype.scrollIntoView ??= () => undefined;
});
afterEach(() => {
  cleanup();
  fake.world.stop();
});

describe('Rules', () => {
  it('shows the rule for all tools, rules of single clients, and since when calls are counted', async () => {
    start('#/rules/playwright');
    fake.policies.countedSinceMs = Date.UTC(2026, 1, 3, 12);
    fake.policies.editElsewhere(
      'playwright',
      `{ "version": "1", "default": "allow",
         "all_tools": { "limits": [{ "counter": "all", "window": "minute", "max": 120 }] },
         "clients": { "cursor-vscode": { "tools": { "browser_type": { "action": "deny", "reason": "no typing" } } } } }`,
    );
    expect((await screen.findByTestId('rules-for-all', {}, { timeout: 20_000 })).textContent).toContain(
      'at most 120 a minute',
    );
    expect(screen.getByTestId('rules-counted-since').textContent).toMatch(/Counted since .*2026/);
    const row = screen.getByTestId('rule-tool-browser_type');
    expect(within(row).getByTestId('rule-client').textContent).toContain('cursor-vscode: refused: no typing');
    expect(within(row).getByTestId('rule-but').textContent).toContain('blocked for cursor-vscode');
  });

  it('says that a rule for all tools refuses, also where the tool has one of its own', async () => {
    start('#/rules/playwright?tool=browser_type');
    fake.policies.editElsewhere(
      'playwright',
      `{ "version": "1", "default": "allow", "hide": ["browser_close"],
         "all_tools": { "action": "deny", "reason": "not today" },
         "tools": { "browser_type": {} } }`,
    );
    const row = await screen.findByTestId('rule-tool-browser_type', {}, { timeout: 20_000 });
    expect((await screen.findByTestId('builder-for-all')).textContent).toContain('Refused by the rule for all tools');
    expect(within(row).getByTestId('rule-state').dataset.value).toBe('deny');
    await fireEvent.click(screen.getByTestId('builder-close'));
    await waitFor(() => expect(row.textContent).toContain('refused: not today by the rule for all tools'));
    const hidden = screen.getByTestId('rule-tool-browser_close');
    expect(within(hidden).getByTestId('rule-state').dataset.value).toBe('hide');
  });

  it('lists every tool with its state; searching narrows it', async () => {
    start('#/rules/playwright');
    const row = await screen.findByTestId('rule-tool-browser_click', {}, { timeout: 20_000 });
    expect(within(row).getByTestId('rule-state').dataset.value).toBe('cap');
    await fireEvent.input(screen.getByTestId('rules-find'), { target: { value: 'evaluate' } });
    expect(screen.queryByTestId('rule-tool-browser_click')).toBeNull();
    expect(screen.getByTestId('rule-tool-browser_evaluate')).toBeTruthy();
  });

  it('sorts its tools by name, calls and refusals', async () => {
    start('#/rules/playwright');
    await screen.findByTestId('rule-tool-browser_click', {}, { timeout: 20_000 });
    const names = () => screen.getAllByTestId('rule-pick').map((box) => box.closest('tr')!.dataset.tool!);
    const asListed = names();
    await fireEvent.click(screen.getByTestId('sort-name'));
    expect(names()).toEqual(asListed.toSorted());
    expect(screen.getByTestId('sort-name').closest('th')!.getAttribute('aria-sort')).toBe('ascending');
    await fireEvent.click(screen.getByTestId('sort-calls'));
    const calls = screen
      .getAllByTestId('rule-pick')
      .map((box) => Number(box.closest('tr')!.querySelector('.c-calls')!.textContent.replace(/\D/g, '')));
    expect(calls).toEqual(calls.toSorted((a, b) => b - a));
    await fireEvent.click(screen.getByTestId('sort-calls'));
    await fireEvent.click(screen.getByTestId('sort-calls'));
    expect(names()).toEqual(asListed);
  });

  it('chooses several tools by box, stretch and key, and denies them in one change', async () => {
    start('#/rules/playwright');
    await screen.findByTestId('rule-tool-browser_click', {}, { timeout: 20_000 });
    const boxes = () => screen.getAllByTestId<HTMLInputElement>('rule-pick');
    const chosen = () =>
      boxes()
        .filter((box) => box.checked)
        .map((box) => box.closest('tr')!.dataset.tool!);
    await fireEvent.click(boxes()[0]!);
    await fireEvent.click(boxes()[2]!, { shiftKey: true });
    expect(chosen()).toHaveLength(3);
    const name = within(boxes()[1]!.closest('tr')!).getByTestId('rule-open');
    await fireEvent.keyDown(name, { key: 'x' });
    expect(chosen()).toHaveLength(2);
    expect(screen.getByTestId('many').textContent).toContain('2 tools chosen');
    const tools = chosen();
    const saved = vi.spyOn(fake, 'savePolicy');
    await fireEvent.click(screen.getByTestId('many-deny'));
    await waitFor(() => expect(screen.queryByTestId('many')).toBeNull());
    expect(saved).toHaveBeenCalledTimes(1);
    const states = fake.policies.rules('playwright').tools;
    expect(tools.map((one) => states.find((rule) => rule.name === one)!.state)).toEqual(['deny', 'deny']);
    expect(screen.getByTestId('undo')).toBeTruthy();
  });

  it('offers to hide what the default refuses', async () => {
    start('#/rules/files');
    await fireEvent.click(await screen.findByTestId('rules-unlisted', {}, { timeout: 20_000 }));
    expect((await screen.findByTestId('builder-words')).textContent).toContain('not on the list of agents');
    await fireEvent.click(screen.getByTestId('rule-save'));
    await waitFor(() => expect(fake.policies.rules('files').defaultAction).toBe('hide'));
  });

  it('a rule that says more than the form can is edited as text', async () => {
    start('#/rules/github');
    const row = await screen.findByTestId('rule-tool-create_issue', {}, { timeout: 20_000 });
    expect(within(row).queryByTestId('rule-state')).toBeNull();
    expect(within(row).getByTestId('rule-text').textContent).toMatch(/as text/);
  });

  it('a form that lacks something cannot be saved and says so', async () => {
    start('#/rules/playwright?tool=browser_type');
    await screen.findByTestId('builder', {}, { timeout: 20_000 });
    await fireEvent.click(screen.getByTestId('builder-add-limit'));
    await fireEvent.input(screen.getByTestId('builder-max'), { target: { value: '0' } });
    await waitFor(() => expect(screen.getByText('A whole number from 1.')).toBeTruthy());
    expect(screen.getByTestId<HTMLButtonElement>('rule-save').disabled).toBe(true);
    await fireEvent.input(screen.getByTestId('builder-max'), { target: { value: '3' } });
    await waitFor(() => expect(screen.getByTestId<HTMLButtonElement>('rule-save').disabled).toBe(false));
  });

  it('puts a ready-made rule into the text, where it is looked at before it is saved', async () => {
    start('#/rules/playwright');
    const ready = await screen.findByTestId('ready-rules', {}, { timeout: 20_000 });
    await fireEvent.click(ready.querySelector('summary')!);
    const inside = within(ready).getByTestId('ready-output-inside');
    await fireEvent.input(within(inside).getByTestId('ready-folder'), { target: { value: '/srv/tests' } });
    await fireEvent.click(within(inside).getByTestId('ready-apply'));
    const review = await screen.findByTestId('review', {}, { timeout: 20_000 });
    await waitFor(() => expect(review.textContent).toContain('/srv/tests'));
    expect(screen.getByTestId('rules-unsaved')).toBeTruthy();
    expect(fake.policies.rules('playwright').text).not.toContain('/srv/tests');
  });

  it('offers the ready-made rules that fit the tools of a server', async () => {
    start('#/rules/files');
    const ready = await screen.findByTestId('ready-rules', {}, { timeout: 20_000 });
    await fireEvent.click(ready.querySelector('summary')!);
    expect(within(ready).queryByTestId('ready-output-inside')).toBeNull();
    const readOnly = within(ready).getByTestId('ready-files-read-only');
    expect(within(readOnly).queryByTestId('ready-folder')).toBeNull();
    await fireEvent.click(within(readOnly).getByTestId('ready-apply'));
    const review = await screen.findByTestId('review', {}, { timeout: 20_000 });
    await waitFor(() => expect(review.textContent).toContain('write_file'));
  });

  it('offers no ready-made rules where they do not fit', async () => {
    start('#/rules/a-server-with-a-rather-long-name-that-does-not-fit-anywhere');
    await screen.findByTestId('rules-find', {}, { timeout: 20_000 });
    await waitFor(() => expect(screen.getAllByTestId(/^rule-tool-/).length).toBeGreaterThan(0));
    expect(screen.queryByTestId('ready-rules')).toBeNull();
  });

  it('leaving with edits asks first', async () => {
    start('#/rules/playwright');
    const row = await screen.findByTestId('rule-tool-browser_type', {}, { timeout: 20_000 });
    await fireEvent.click(within(row).getByTestId('rule-state'));
    await fireEvent.click(within(row).getByRole('option', { name: 'Hide', hidden: true }));
    await fireEvent.click(screen.getByTestId('rail-settings'));
    await screen.findByTestId('leave');
    expect(location.hash).toBe('#/rules/playwright');
    await fireEvent.click(screen.getByTestId('leave-discard'));
    await waitFor(() => expect(location.hash).toBe('#/settings'));
  });
});

describe('Servers', () => {
  it('shows hostile stderr with its hidden characters made visible', async () => {
    start('#/servers/playwright');
    const stderr = await screen.findByTestId('stderr', {}, { timeout: 20_000 });
    await waitFor(() => expect(stderr.textContent).toContain('U+202E'));
    expect(stderr.textContent).not.toContain('\u202e');
  });

  it('shows codegen sessions, what a clear threw away, and writes a test of it', async () => {
    const app = start('#/servers');
    const block = await screen.findByTestId('codegen', {}, { timeout: 20_000 });
    const sessions = await within(block).findAllByTestId('codegen-session');
    expect(sessions.map((one) => within(one).getByTestId('codegen-state').textContent)).toEqual([
      'Open',
      'Cleared',
      'Ended',
      'Lost',
    ]);
    expect(within(block).getByTestId('codegen-recording').textContent).toBe('1 open session');
    expect(within(sessions[0]!).queryByTestId('codegen-gone')).toBeNull();
    expect(within(sessions[1]!).getByTestId('codegen-gone').textContent).toContain('Clearing threw 12 actions away');
    await fireEvent.click(within(sessions[1]!).getByTestId('codegen-export'));
    const path = await screen.findByTestId<HTMLInputElement>('export-path');
    await waitFor(() => expect(path.value).toBe('/home/ada/Downloads/playwright-4f1c2a92-2026-11-16.spec.ts'));
    expect(path.value.slice(path.selectionStart ?? 0, path.selectionEnd ?? 0)).toBe('playwright-4f1c2a92-2026-11-16');
    await fireEvent.input(path, { target: { value: '/home/ada/login.spec.ts' } });
    await fireEvent.click(screen.getByTestId('export-write'));
    await waitFor(() => expect(screen.queryByTestId('export-test')).toBeNull());
    const words = 'Wrote a test of 12 actions to /home/ada/login.spec.ts';
    expect(app.toasts.list.find((one) => one.words === words)?.copy).toBe('/home/ada/login.spec.ts');
    await fireEvent.click(within(sessions[0]!).getByTestId('codegen-open'));
    const actions = await within(sessions[0]!).findByTestId('codegen-actions');
    expect(actions.textContent).toContain("x'); console.log('INJECTED'); ('");
    expect(actions.textContent).toContain('U+202E');
    expect(within(actions).getAllByRole('listitem').length).toBe(9);
    expect(within(actions).getAllByText('playwright_navigate')[0]!.closest('a')?.getAttribute('href')).toBe(
      '#/activity?call=p1-2',
    );
    await fireEvent.click(within(block).getByTestId('codegen-all'));
    const all = within(block).getAllByTestId('codegen-session');
    expect(all.length).toBe(6);
    expect(within(all[4]!).queryByTestId('codegen-export'), 'nothing to write').toBeNull();
    expect(within(await screen.findByTestId('server-notes')).queryByTestId('codegen')).toBeNull();
  });

  it('does not write a test over something else, and says why', async () => {
    start('#/servers');
    fake.world.stop();
    const block = await screen.findByTestId('codegen', {}, { timeout: 20_000 });
    const press = async () => fireEvent.click((await within(block).findAllByTestId('codegen-export'))[0]!);
    await fake.exportCodegen('p1-1', '/home/ada/login.spec.ts');
    await press();
    const path = await screen.findByTestId<HTMLInputElement>('export-path');
    for (const [value, why] of [
      ['/home/ada/login.spec.ts', 'choose another name'],
      ['/home/ada/login.sh', 'something.spec.ts'],
      ['login.spec.ts', 'the whole path'],
    ] as const) {
      await fireEvent.input(path, { target: { value } });
      await fireEvent.click(screen.getByTestId('export-write'));
      await waitFor(() => expect(screen.getByTestId('export-test').textContent).toContain(why));
    }
    await fireEvent.input(path, { target: { value: ' ' } });
    expect(screen.getByTestId<HTMLButtonElement>('export-write').disabled).toBe(true);
    await fireEvent.click(screen.getByTestId('export-cancel'));
    expect(screen.queryByTestId('export-test')).toBeNull();
  });

  it('warns before an agent clears a recording, keeps it by one click, and takes that back', async () => {
    const app = start('#/servers');
    const block = await screen.findByTestId('codegen', {}, { timeout: 20_000 });
    const said = () => within(block).getByTestId('codegen-clearing').textContent;
    await within(block).findByTestId('codegen-clearing');
    expect(said()).toContain('The agent may clear this: 9 actions would be gone from the server.');
    await fireEvent.click(within(block).getByTestId('codegen-keep'));
    await waitFor(() => expect(said()).toContain('Clearing is refused until it has ended.'));
    expect(within(block).queryByTestId('codegen-keep')).toBeNull();
    expect(fake.policies.rules('playwright').text).toContain('"keep_unfinished": true');
    await fireEvent.click(screen.getByTestId('undo'));
    await waitFor(() => expect(said()).toContain('The agent may clear this'));
    expect(app.toasts.list.at(-1)?.words).toContain('Undone');
    fake.world.pausedAll = true;
    app.acts += 1;
    await waitFor(() => expect(said()).toContain('Clearing is refused: all calls are paused'));
  });

  it('says what ends with everything before it stops it', async () => {
    const app = start('#/activity');
    await fireEvent.click(await screen.findByTestId('stop-everything', {}, { timeout: 20_000 }));
    const loss = await screen.findByTestId('loss', {}, { timeout: 20_000 });
    await waitFor(() => expect(loss.textContent).toContain('its 9 actions stay saved in Callgate'));
    expect(loss.textContent).toContain('every server ends with all that it started');
    await fireEvent.click(within(loss).getByTestId('loss-stay'));
    expect(fake.world.pausedAll).toBe(false);
    await fireEvent.click(screen.getByTestId('stop-everything'));
    await fireEvent.click(await screen.findByTestId('loss-go'));
    await waitFor(() => expect(fake.world.pausedAll).toBe(true));
    await waitFor(() => expect(app.toasts.list.some((one) => one.words.includes('every server'))).toBe(true));
  });

  it('says why codegen sessions cannot be shown, and what begins one', async () => {
    start('#/servers', 120, ['codegen']);
    const block = await screen.findByTestId('codegen', {}, { timeout: 20_000 });
    await waitFor(() => expect(block.textContent).toContain('disk is full'));
    cleanup();
    start('#/servers');
    fake.recordings.length = 0;
    const empty = await screen.findByTestId('codegen', {}, { timeout: 20_000 });
    await waitFor(() => expect(empty.textContent).toContain('start_codegen_session'));
  });

  it('shows every process of a server, folds them, and ends its tree', async () => {
    start('#/servers/playwright');
    const tree = (await screen.findAllByTestId('tree', {}, { timeout: 20_000 }))[0]!;
    expect(within(tree).getAllByTestId('process').length).toBe(11);
    expect(tree.textContent).toContain('claude-ai');
    const renderer = within(tree).getByText('renderer').closest('tr')!;
    expect(renderer.textContent).toMatch(/19 %.*149 MB/);
    await fireEvent.click(within(tree).getAllByTestId('process-fold')[1]!);
    expect(within(tree).getAllByTestId('process').length).toBe(2);
    await fireEvent.click(within(tree).getByTestId('end-tree'));
    await fireEvent.click(await screen.findByTestId('loss-go'));
    expect((await screen.findAllByText('9 processes of playwright ended.')).length).toBeGreaterThan(0);
  });

  it('stops a server and starts it again', async () => {
    start('#/servers/playwright');
    const card = within(await screen.findByTestId('server-playwright', {}, { timeout: 20_000 }));
    const stop = await card.findByTestId('server-stop', {}, { timeout: 20_000 });
    await fireEvent.click(stop);
    const loss = await screen.findByTestId('loss');
    expect(loss.textContent).toContain('its 9 actions stay saved in Callgate');
    await fireEvent.click(within(loss).getByTestId('loss-stay'));
    expect(screen.queryByTestId('loss')).toBeNull();
    // With no recording open nothing is asked.
    fake.recordings.splice(0, 1);
    await fireEvent.click(stop);
    const begin = await card.findByTestId('server-start', {}, { timeout: 10_000 });
    expect(screen.getByTestId('server-playwright').textContent).toContain('stopped by you');
    await fireEvent.click(begin);
    expect(await card.findByTestId('server-restart', {}, { timeout: 10_000 })).toBeTruthy();
  });

  it('tells what happened to a server, with the reason', async () => {
    start('#/servers/playwright');
    const list = await screen.findByTestId('happened', {}, { timeout: 20_000 });
    expect(list.textContent).toContain('Restarted');
    expect(list.textContent).toContain('the server ended (exit code 1) between calls');
  });

  it('offers to end what a dead session left, and says what came of it', async () => {
    start('#/servers');
    const note = await screen.findByTestId('leftovers', {}, { timeout: 20_000 });
    expect(note.textContent).toContain('6 browser processes of a session of playwright that ended 2 d ago');
    await fireEvent.click(within(note).getByTestId('leftovers-show'));
    expect(within(note).getAllByTestId('process').length).toBe(6);
    await fireEvent.click(within(note).getByTestId('leftovers-end'));
    await waitFor(() => expect(screen.queryByTestId('leftovers')).toBeNull());
    expect(screen.getAllByText(/6 processes of dead sessions ended/).length).toBeGreaterThan(0);
  });

  it('ends a browser of nobody only after a tick', async () => {
    start('#/servers');
    const note = await screen.findByTestId('suspects', {}, { timeout: 20_000 });
    expect(within(note).queryByTestId('suspects-end')).toBeNull();
    await fireEvent.click(within(note).getByTestId('suspects-show'));
    const end = within(note).getByTestId<HTMLButtonElement>('suspects-end');
    expect(end.disabled).toBe(true);
    await fireEvent.click(within(note).getByTestId('suspect'));
    expect(end.disabled).toBe(false);
    await fireEvent.click(end);
    await waitFor(() => expect(screen.queryByTestId('suspects')).toBeNull());
  });

  it('searches in stderr', async () => {
    start('#/servers/playwright');
    const stderr = await screen.findByTestId('stderr', {}, { timeout: 20_000 });
    await waitFor(() => expect(stderr.textContent).toContain('listening on stdio'));
    await fireEvent.input(screen.getByTestId('stderr-search'), { target: { value: 'econnreset' } });
    await waitFor(() => expect(screen.getByTestId('stderr').textContent).not.toContain('listening on stdio'));
    expect(screen.getByTestId('stderr').textContent).toContain('ECONNRESET');
    await fireEvent.input(screen.getByTestId('stderr-search'), { target: { value: 'zzz' } });
    expect(await screen.findByTestId('stderr-none')).toBeTruthy();
  });

  it('says what to do when a policy is broken, and when there is no server', async () => {
    start('#/servers');
    const notes = await screen.findByTestId('server-notes', {}, { timeout: 20_000 });
    expect(within(notes).getByTestId('server-protection').textContent).toBe('Broken');
    expect(within(notes).getByText('Mend it').getAttribute('href')).toBe('#/rules/notes');
    cleanup();
    start('#/servers', 0);
    expect(await screen.findByTestId('servers-demo', {}, { timeout: 20_000 })).toBeTruthy();
  });

  it('says why nothing can be shown, and offers another try', async () => {
    start('#/servers', 20, ['servers']);
    expect(await screen.findByText('The servers could not be read', {}, { timeout: 20_000 })).toBeTruthy();
    expect(screen.getByText('Try again')).toBeTruthy();
  });
});

describe('The header', () => {
  it('puts a broken default policy back, after a question', async () => {
    const app = start('#/settings');
    fake.world.defaultBroken = true;
    await app.refresh();
    const need = await screen.findByTestId('need');
    expect(need.textContent).toContain('The default policy is broken');
    await fireEvent.click(within(need).getByText('Put the default policy back…'));
    const yes = await screen.findByTestId('question-yes');
    expect(yes.textContent).toContain('Put back');
    expect(fake.world.defaultBroken).toBe(true);
    await waitFor(() => expect(yes.getAttribute('aria-disabled')).toBe('false'));
    await fireEvent.click(yes);
    await waitFor(() => expect(screen.queryByTestId('need')).toBeNull());
    expect(fake.world.defaultBroken).toBe(false);
  });
});

describe('Settings', () => {
  it('saves a number at once and refuses nonsense in place', async () => {
    start('#/settings');
    const days = await screen.findByTestId<HTMLInputElement>('settings-days', {}, { timeout: 20_000 });
    await fireEvent.input(days, { target: { value: '12' } });
    await fireEvent.change(days);
    await waitFor(() => expect(fake.world.settings.historyDays).toBe(12));
    await fireEvent.input(days, { target: { value: 'many' } });
    await fireEvent.change(days);
    await waitFor(() => expect(days.getAttribute('aria-invalid')).toBe('true'));
    expect(fake.world.settings.historyDays).toBe(12);
  });

  it('puts lost gates back by itself only for who switched it on', async () => {
    start('#/settings');
    const repair = await screen.findByTestId<HTMLInputElement>('settings-repair', {}, { timeout: 20_000 });
    expect(repair.checked).toBe(false);
    await fireEvent.click(repair);
    await waitFor(() => expect(fake.world.settings.repairGates).toBe(true));
  });

  it('a switch that could not be saved goes back', async () => {
    start('#/settings', 20, ['saveSettings']);
    const alarms = await screen.findByTestId<HTMLInputElement>('settings-notify-alarms', {}, { timeout: 20_000 });
    const before = alarms.checked;
    // It may be back already when the click returns: what counts is that it had moved, and that saving was refused.
    let moved: boolean | null = null;
    alarms.addEventListener('change', () => (moved = alarms.checked));
    await fireEvent.click(alarms);
    expect(moved).toBe(!before);
    expect((await screen.findAllByText(/disk is full/)).length).toBeGreaterThan(0);
    expect(alarms.checked).toBe(before);
    expect(fake.world.settings.notifications.alarms).toBe(before);
  });

  it('deletes nothing before the word is typed', async () => {
    start('#/settings');
    await fireEvent.click(await screen.findByTestId('settings-delete', {}, { timeout: 20_000 }));
    const form = (await screen.findByTestId('delete-dialog')).querySelector('form')!;
    expect(screen.getByTestId('delete-what').textContent).toMatch(/\d+ calls/);
    await fireEvent.input(screen.getByTestId('delete-word'), { target: { value: 'del' } });
    await fireEvent.submit(form);
    expect(fake.world.entries.length).toBeGreaterThan(0);
    await fireEvent.input(screen.getByTestId('delete-word'), { target: { value: 'delete' } });
    await fireEvent.submit(form);
    await waitFor(() => expect(fake.world.entries.length).toBe(0));
  });
});

describe('The first start', () => {
  it('See what it does opens the session that it names', async () => {
    start('#/welcome', 300);
    await fake.changeClients('protect', [], true);
    const link = await screen.findByText<HTMLAnchorElement>('See what it does', {}, { timeout: 20_000 });
    const id = new URLSearchParams(link.hash.split('?')[1]).get('session');
    const servers = await fake.servers();
    const session = servers.flatMap((server) => server.sessions).find((one) => one.session === id)!;
    expect(link.closest('p')!.textContent).toContain(`${session.server}: ${session.calls} call`);
  });

  it('offers the demo, which leads to its calls, and asks about the login once', async () => {
    const app = start('#/welcome', 0);
    await fireEvent.click(await screen.findByTestId('welcome-login-no', {}, { timeout: 20_000 }));
    await waitFor(() => expect(app.overview?.askLogin).toBe(false));
    expect(screen.queryByTestId('welcome-login')).toBeNull();
    await fireEvent.click(screen.getByTestId('welcome-demo'));
    await waitFor(() => expect(location.hash).toBe('#/activity'));
    expect(fake.world.entries.length).toBeGreaterThan(0);
  });
});
