// The sections in the whole window.
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CodegenView } from '../lib/backend';
import { RecordedDesk } from '../testing/desk';
import { accept, press, show, toasts, type } from '../testing/window';

let desk: RecordedDesk;
beforeEach(() => (desk = new RecordedDesk()));

describe('Rules', () => {
  const row = (name: string) => screen.findByTestId(`rule-tool-${name}`);

  it('shows the rule for all tools, rules of single clients, and since when calls are counted', async () => {
    const view = desk.recorded('rules', { server: 'slack' });
    desk.answer('rules', { ...view, countedSinceMs: Date.UTC(2026, 1, 3, 12) });
    show(desk, '#/rules/slack');
    expect((await screen.findByTestId('rules-for-all')).textContent).toContain('at most 120 calls per minute');
    expect(screen.getByTestId('rules-counted-since').textContent).toMatch(/Counted since .*2026/);
    const post = await row('slack_post_message');
    expect(within(post).getByTestId('rule-client').textContent).toContain('Cursor: at most 7 calls per hour');
  });

  it('lists every tool with its state; searching narrows it', async () => {
    show(desk, '#/rules/playwright');
    expect(within(await row('browser_click')).getByTestId('rule-state').dataset.value).toBe('cap');
    await type('rules-find', 'evaluate');
    expect(screen.queryByTestId('rule-tool-browser_click')).toBeNull();
    expect(screen.getByTestId('rule-tool-browser_evaluate')).toBeTruthy();
  });

  it('sorts its tools by name, calls and refusals', async () => {
    show(desk, '#/rules/playwright');
    await row('browser_click');
    const names = () => screen.getAllByTestId('rule-pick').map((box) => box.closest('tr')!.dataset.tool!);
    const asListed = names();
    await press('sort-name');
    expect(names()).toEqual(asListed.toSorted());
    expect(screen.getByTestId('sort-name').closest('th')!.getAttribute('aria-sort')).toBe('ascending');
    await press('sort-calls');
    const calls = screen
      .getAllByTestId('rule-pick')
      .map((box) => Number(box.closest('tr')!.querySelector('.c-calls')!.textContent.replace(/\D/g, '')));
    expect(calls).toEqual(calls.toSorted((a, b) => b - a));
    await press('sort-calls');
    await press('sort-calls');
    expect(names()).toEqual(asListed);
  });

  it('chooses several tools by box, stretch and key, and denies them in one change', async () => {
    show(desk, '#/rules/playwright');
    await row('browser_click');
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
    await press('many-deny');
    await waitFor(() => expect(screen.queryByTestId('many')).toBeNull());
    expect(desk.asked('draftRule').map(({ target, draft }) => [target.tool, draft.action])).toEqual(
      tools.map((tool) => [tool, 'deny']),
    );
    expect(desk.asked('savePolicy')).toHaveLength(1);
    expect(screen.getByTestId('undo')).toBeTruthy();
  });

  it('offers to hide what the default refuses', async () => {
    show(desk, '#/rules/postgres');
    await press('rules-unlisted');
    expect((await screen.findByTestId('builder-words')).textContent).toContain('not on the list of agents');
    await press('rule-save');
    await waitFor(() => expect(desk.asked('draftDefault')).toMatchObject([{ action: 'hide' }]));
  });

  it('a rule that says more than the form can is edited as text', async () => {
    show(desk, '#/rules/slack');
    const history = await row('slack_get_channel_history');
    expect(within(history).queryByTestId('rule-state')).toBeNull();
    expect(within(history).getByTestId('rule-text').textContent).toMatch(/as text/);
  });

  it('a form that lacks something cannot be saved and says so', async () => {
    show(desk, '#/rules/playwright?tool=browser_type');
    await press('builder-add-limit');
    await type('builder-max', '0');
    await waitFor(() => expect(screen.getByText('A whole number from 1.')).toBeTruthy());
    expect(screen.getByTestId<HTMLButtonElement>('rule-save').disabled).toBe(true);
    await type('builder-max', '3');
    await waitFor(() => expect(screen.getByTestId<HTMLButtonElement>('rule-save').disabled).toBe(false));
  });

  it('puts a ready-made rule into the text, where it is looked at before it is saved', async () => {
    show(desk, '#/rules/filesystem');
    const ready = await screen.findByTestId('ready-rules');
    await fireEvent.click(ready.querySelector('summary')!);
    const inside = within(ready).getByTestId('ready-files-inside');
    await fireEvent.input(within(inside).getByTestId('ready-folder'), { target: { value: '/srv/tests' } });
    await press('ready-apply', inside);
    await screen.findByTestId('review');
    expect(desk.asked('draftReady')).toMatchObject([{ id: 'files-inside', folder: '/srv/tests' }]);
    expect(screen.getByTestId('rules-unsaved')).toBeTruthy();
    expect(desk.asked('savePolicy')).toEqual([]);
  });

  it('offers no ready-made rules where they do not fit', async () => {
    const { server } = desk.all('rules').find((view) => view.server.startsWith('a-server'))!;
    show(desk, `#/rules/${server}`);
    await waitFor(() => expect(screen.getAllByTestId(/^rule-tool-/).length).toBeGreaterThan(0));
    expect(screen.queryByTestId('ready-rules')).toBeNull();
  });
});

describe('Servers', () => {
  const card = (name: string) => screen.findByTestId(`server-${name}`);
  const recording = () => desk.recorded('codegen', { server: 'recorder' })[0]!;
  const codegen = async () => within(await card('recorder')).findByTestId('codegen');

  it('shows codegen sessions, what a clear threw away, and writes a test of it', async () => {
    const states: CodegenView['state'][] = ['open', 'cleared', 'ended', 'lost', 'ended', 'lost'];
    desk.answer(
      'codegen',
      states.map((state, at) => ({
        ...recording(),
        id: at === 0 ? recording().id : `one-${at}`,
        state,
        thrownAway: state === 'cleared',
        clearing: null,
        actions: at === 4 ? 0 : 12,
      })),
    );
    for (const command of ['codegenSession', 'codegenFile', 'exportCodegen'] as const)
      desk.answer(command, desk.recorded(command));
    const app = show(desk, '#/servers/recorder');
    const block = await codegen();
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
    await press('codegen-export', sessions[1]);
    const path = await screen.findByTestId<HTMLInputElement>('export-path');
    await waitFor(() => expect(path.value).toMatch(/\.spec\.ts$/));
    expect(path.value.slice(path.selectionStart ?? 0, path.selectionEnd ?? 0)).not.toMatch(/\/|\.spec\.ts$/);
    await fireEvent.input(path, { target: { value: '/home/ada/login.spec.ts' } });
    await press('export-write');
    await waitFor(() => expect(screen.queryByTestId('export-test')).toBeNull());
    expect(desk.asked('exportCodegen')).toEqual([{ id: 'one-1', path: '/home/ada/login.spec.ts' }]);
    expect(app.toasts.list.at(-1)?.copy).toBe('/home/ada/login.spec.ts');
    await press('codegen-open', sessions[0]);
    const actions = await within(sessions[0]!).findByTestId('codegen-actions');
    expect(actions.textContent).toContain("x'); console.log('INJECTED'); ('");
    expect(actions.textContent).toContain('U+202E');
    expect(within(actions).getAllByRole('listitem').length).toBe(9);
    const { call } = desk.recorded('codegenSession').actions[0]!;
    expect(within(actions).getAllByText('playwright_navigate')[0]!.closest('a')?.getAttribute('href')).toBe(
      `#/activity?call=${call}`,
    );
    await press('codegen-all', block);
    const all = within(block).getAllByTestId('codegen-session');
    expect(all.length).toBe(6);
    expect(within(all[4]!).queryByTestId('codegen-export'), 'nothing to write').toBeNull();
  });

  it('says why a test was not written, and keeps what was typed', async () => {
    desk.fail('exportCodegen', { message: 'There is a file of this name: choose another name.' });
    show(desk, '#/servers/recorder');
    await press('codegen-export', await codegen());
    const path = await screen.findByTestId<HTMLInputElement>('export-path');
    await waitFor(() => expect(path.value).not.toBe(''));
    await fireEvent.input(path, { target: { value: '/home/ada/login.spec.ts' } });
    await press('export-write');
    await waitFor(() => expect(screen.getByTestId('export-test').textContent).toContain('choose another name'));
    expect(path.value).toBe('/home/ada/login.spec.ts');
    await fireEvent.input(path, { target: { value: ' ' } });
    expect(screen.getByTestId<HTMLButtonElement>('export-write').disabled).toBe(true);
    await press('export-cancel');
    expect(screen.queryByTestId('export-test')).toBeNull();
  });

  it('says that a recording cannot be cleared while all calls are paused', async () => {
    desk.answer('codegen', [{ ...recording(), clearing: { kind: 'refused', reason: 'all calls are paused' } }]);
    show(desk, '#/servers/recorder');
    const said = await within(await codegen()).findByTestId('codegen-clearing');
    expect(said.textContent).toContain('Clearing is refused: all calls are paused');
    expect(screen.queryByTestId('codegen-keep')).toBeNull();
  });

  it('says why codegen sessions cannot be shown, and what begins one', async () => {
    desk.fail('codegen');
    show(desk, '#/servers/recorder');
    const block = await codegen();
    await waitFor(() => expect(block.textContent).toContain('disk is full'));
    cleanup();
    desk.answer('codegen', []);
    show(desk, '#/servers/recorder');
    const empty = await codegen();
    await waitFor(() => expect(empty.textContent).toContain('start_codegen_session'));
  });

  it('stops nothing when somebody stays', async () => {
    desk.answer('atStake', ['its 9 actions stay saved in Callgate']);
    show(desk, '#/activity');
    await press('stop-everything');
    const loss = await screen.findByTestId('loss');
    await waitFor(() => expect(loss.textContent).toContain('its 9 actions stay saved in Callgate'));
    expect(loss.textContent).toContain('every server ends with all that it started');
    await press('loss-stay', loss);
    expect(desk.asked('stopEverything')).toEqual([]);
    await press('stop-everything');
    await press('loss-go');
    await waitFor(() => expect(desk.asked('stopEverything')).toHaveLength(1));
  });

  it('shows every process of a server, folds them, and ends its tree', async () => {
    const [tree] = desk.recorded('trees', { server: 'recorder' });
    const [gate] = tree!.processes;
    const process = (at: number, depth: number, what: string) => ({ ...gate!, pid: 100 + at, depth, what });
    const processes = ['server', 'browser', 'gpu', 'renderer'].map((what, at) => process(at, Math.min(at, 2), what));
    desk.answer('trees', [{ ...tree!, processes }]);
    desk.answer('endTree', { words: '4 processes of recorder ended.', ended: [], profiles: [] });
    show(desk, '#/servers/recorder');
    const shown = await screen.findByTestId('tree');
    expect(within(shown).getAllByTestId('process').length).toBe(4);
    expect(shown.textContent).toContain('claude-ai');
    expect(within(shown).getByText('renderer').closest('tr')!.textContent).toMatch(/1\.5 %|2 %/);
    await fireEvent.click(within(shown).getAllByTestId('process-fold')[1]!);
    expect(within(shown).getAllByTestId('process').length).toBe(2);
    await press('end-tree', shown);
    await press('loss-go');
    await waitFor(() => expect(toasts()).toContain('4 processes of recorder ended.'));
  });

  it('stops a server without a question when nothing is at stake', async () => {
    desk.answer('atStake', []);
    show(desk, '#/servers/recorder');
    await press('server-stop', await card('recorder'));
    await waitFor(() => expect(desk.asked('stopServer')).toMatchObject([{ server: 'recorder' }]));
    expect(screen.queryByTestId('loss')).toBeNull();
  });

  it('tells what happened to a server, with the reason', async () => {
    const text = 'the server ended (exit code 1) between calls';
    desk.answer('happened', [{ atMs: Date.now() - 60_000, kind: 'restarted', text, session: null }]);
    show(desk, '#/servers/recorder');
    const list = await screen.findByTestId('happened');
    await waitFor(() => expect(list.textContent).toContain('Restarted'));
    expect(list.textContent).toContain(text);
  });

  it('ends a browser of nobody only after a tick', async () => {
    const suspect = {
      id: '20114:88123',
      pid: 20_114,
      command: '/opt/chromium/chrome --headless',
      profile: '/tmp/profile-Zk1a0Q',
      processes: 9,
      memoryBytes: 388_000_000,
      startedMs: Date.now() - 86_400_000,
    };
    desk.answer('strays', { leftovers: [], elsewhere: [], suspects: [suspect] });
    desk.answer('endSuspects', { words: '9 processes ended.', ended: [], profiles: [] });
    show(desk, '#/servers');
    const note = await screen.findByTestId('suspects');
    expect(within(note).queryByTestId('suspects-end')).toBeNull();
    await press('suspects-show', note);
    const end = within(note).getByTestId<HTMLButtonElement>('suspects-end');
    expect(end.disabled).toBe(true);
    await press('suspect', note);
    expect(end.disabled).toBe(false);
    await fireEvent.click(end);
    await waitFor(() => expect(desk.asked('endSuspects')).toEqual([{ ids: [suspect.id] }]));
  });

  it('searches in stderr', async () => {
    const lines = 'listening on stdio\nread ECONNRESET\n';
    desk.answer('stderrTail', ({ search }) => (search === 'zzz' ? '' : lines));
    show(desk, '#/servers/recorder');
    await waitFor(() => expect(screen.getByTestId('stderr').textContent).toContain('listening on stdio'));
    await type('stderr-search', 'econnreset');
    await waitFor(() => expect(screen.getByTestId('stderr').textContent).not.toContain('listening on stdio'));
    expect(screen.getByTestId('stderr').textContent).toContain('ECONNRESET');
    await type('stderr-search', 'zzz');
    expect(await screen.findByTestId('stderr-none')).toBeTruthy();
    expect(desk.asked('stderrTail').at(-1)).toMatchObject({ search: 'zzz' });
  });

  it('says what to do when a policy is broken, and when there is no server', async () => {
    const [server, ...others] = desk.recorded('servers');
    desk.answer('servers', [{ ...server!, name: 'notes', protection: 'broken', problem: 'line 5' }, ...others]);
    show(desk, '#/servers');
    const notes = await card('notes');
    expect(within(notes).getByTestId('server-protection').textContent).toBe('Broken');
    expect(within(notes).getByText('Mend it').getAttribute('href')).toBe('#/rules/notes');
    cleanup();
    show(new RecordedDesk('first'), '#/servers');
    expect(await screen.findByTestId('servers-demo')).toBeTruthy();
  });
});

describe('The header', () => {
  it('puts a broken default policy back, after a question', async () => {
    const overview = desk.recorded('overview');
    const words = 'The default policy is broken';
    const need = { words, fix: { kind: 'restoreDefault' as const }, server: null, serious: true };
    desk.answer('overview', { ...overview, needs: [need] });
    show(desk, '#/settings');
    await fireEvent.click(within(await screen.findByTestId('need')).getByText('Put the default policy back…'));
    expect((await screen.findByTestId('question-yes')).textContent).toContain('Put back');
    expect(desk.asked('loosen')).toEqual([{ loosening: { kind: 'restoreDefault' } }]);
    expect(desk.asked('confirm')).toEqual([]);
    desk.answer('overview', { ...overview, needs: [] });
    await accept();
    await waitFor(() => expect(screen.queryByTestId('need')).toBeNull());
    expect(desk.asked('confirm')).toHaveLength(1);
  });
});

describe('Settings', () => {
  it('puts lost gates back by itself only for who switched it on', async () => {
    show(desk, '#/settings');
    const repair = await screen.findByTestId<HTMLInputElement>('settings-repair');
    expect(repair.checked).toBe(false);
    await fireEvent.click(repair);
    await waitFor(() => expect(desk.asked('saveSettings')).toMatchObject([{ settings: { repairGates: true } }]));
  });

  it('a switch that could not be saved goes back', async () => {
    desk.fail('saveSettings');
    show(desk, '#/settings');
    const alarms = await screen.findByTestId<HTMLInputElement>('settings-notify-alarms');
    const before = alarms.checked;
    // It may be back already when the click returns: what counts is that it had moved, and that saving was refused.
    let moved: boolean | null = null;
    alarms.addEventListener('change', () => (moved = alarms.checked));
    await fireEvent.click(alarms);
    expect(moved).toBe(!before);
    expect((await screen.findAllByText(/disk is full/)).length).toBeGreaterThan(0);
    expect(alarms.checked).toBe(before);
  });
});

describe('The first start', () => {
  it('See what it does opens the session that it names', async () => {
    const [server] = desk.recorded('servers').filter(({ sessions }) => sessions.some(({ calls }) => calls > 0));
    const [client] = desk.recorded('clients');
    const file = client!.files[0]!;
    const entry = { ...file.entries[0]!, state: 'protected' as const, server: server!.name };
    desk.answer('clients', [{ ...client!, queued: [], restores: [], files: [{ ...file, entries: [entry] }] }]);
    show(desk, '#/welcome');
    const link = await screen.findByText<HTMLAnchorElement>('See what it does');
    const id = new URLSearchParams(link.hash.split('?')[1]).get('session');
    const session = server!.sessions.find((one) => one.session === id)!;
    expect(link.closest('p')!.textContent).toContain(`${session.server}: ${session.calls} call`);
  });
});
