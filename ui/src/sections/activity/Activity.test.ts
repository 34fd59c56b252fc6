// The section on the made-up gate, without a browser: what is shown and what is asked of the gate.
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import App from '../../App.svelte';
import { App as AppState } from '../../lib/app.svelte';
import { fakeBackend, type FakeBackend } from '../../lib/backend/fake';

// A busy machine needs its time to compile the sections.
vi.setConfig({ testTimeout: 60_000 });
configure({ asyncUtilTimeout: 20_000 });

let backend: FakeBackend;
let app: AppState;

function show(hash: string, options: Parameters<typeof fakeBackend>[0] = {}) {
  history.replaceState(null, '', hash);
  backend = fakeBackend({ calls: 300, rate: 0, ...options });
  app = new AppState(backend);
  return render(App, { app });
}

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  backend.world.stop();
});

const rows = () => screen.getAllByTestId('row');
const runs = () => within(screen.getByTestId('runs')).getAllByRole('button', { name: /show this run/ });

/** What is done again and again after so long, to be done when a test says so. */
function ticksOf(ms: number): (() => void)[] {
  const ticks: (() => void)[] = [];
  const real = globalThis.setInterval;
  vi.spyOn(globalThis, 'setInterval').mockImplementation(((run: () => void, every?: number) => {
    if (every !== ms) return real(run, every);
    ticks.push(run);
    return undefined;
  }) as typeof setInterval);
  return ticks;
}

/** Opens a call that was let through. */
async function openFree() {
  await waitFor(() => expect(rows().length).toBeGreaterThan(5));
  const free = rows().find((row) => row.dataset.decision === 'allowed')!;
  app.router.go(`#/activity?call=${free.dataset.call}`);
  await waitFor(() => expect(screen.getByTestId('drawer').textContent).toContain(free.dataset.call));
}

describe('Activity', () => {
  it('shows rows, and the status of the gate', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    await waitFor(() => expect(screen.getByTestId('status').textContent).toMatch(/servers, .* calls today/));
    await waitFor(() => expect(document.body.dataset.ready).toBe('1'));
  });

  it('takes the rows that are there for what comes, until somebody points at one', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    const come = () => backend.world.makeCall(session, tool, { url: 'https://a.example' }, Date.now(), false).id;
    const last = rows().at(-1)!;
    const first = come();
    await waitFor(() => expect(rows().at(-1)!.dataset.call).toBe(first));
    expect(rows().at(-1)).toBe(last);

    const point = () => void fireEvent.pointerMove(rows().at(-1)!);
    point();
    await tick();
    const pointed = rows().find((row) => row.dataset.call === first)!;
    come();
    await waitFor(() => (point(), expect(screen.getByTestId('new-pill').textContent).toContain('1 new')));
    expect(pointed.isConnected).toBe(true);
    expect(pointed.dataset.call).toBe(first);
  });

  it('says the next step when there is nothing', async () => {
    show('#/activity', { calls: 0 });
    expect(await screen.findByText('No calls yet')).toBeTruthy();
    expect(screen.getByText('Step by step')).toBeTruthy();
  });

  it('says what went wrong, and tries again', async () => {
    show('#/activity', { fail: ['logPage'] });
    expect(await screen.findByText('The log cannot be read')).toBeTruthy();
    expect(screen.getByText(/Free some space/)).toBeTruthy();
    expect(screen.getByText('Try again')).toBeTruthy();
  });

  it('shows a call that the address asks for, with hostile text marked', async () => {
    show('#/activity');
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    const call = backend.world.makeCall(
      session,
      tool,
      { url: 'https://a\u202eb<img src=x onerror=alert(1)>' },
      Date.now(),
      false,
    );
    app.router.go(`#/activity?call=${call.id}`);
    const drawer = await screen.findByTestId('drawer');
    await waitFor(() => expect(drawer.textContent).toContain('U+202E'));
    expect(drawer.textContent).toContain('<img src=x onerror=alert(1)>');
    expect(drawer.querySelector('img')).toBeNull();
  });

  it('blocking refuses the next call of that client, and of no other', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const { world } = backend;
    await backend.restrict({
      kind: 'block',
      target: { server: 'files', tool: 'read_file', client: 'claude-ai' },
      reason: 'no',
    });
    const tool = world.server('files')!.tools[0]!;
    const by = (client: string) =>
      world.sessions.find((one) => one.server === 'files' && one.client === client && one.endedMs === null)!;
    const refused = world.makeCall(by('claude-ai'), tool, { path: '/x' }, Date.now(), false);
    expect(refused).toMatchObject({ decision: 'denied', reason: 'no' });
    expect(world.makeCall(by('cursor-vscode'), tool, { path: '/x' }, Date.now(), false).decision).toBe('allowed');
    // This very call: others were denied before it.
    const row = () => rows().find((one) => one.dataset.call === refused.id);
    await waitFor(() => expect(row()?.dataset.decision).toBe('denied'));
  });

  it('keys act on the call in the drawer, once, and on none while runs are shown', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const acts = vi.spyOn(backend, 'restrict');
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    const call = backend.world.makeCall(session, tool, { url: 'https://a.example' }, Date.now(), false);
    // Some other row is chosen; then a notification opens this call.
    await fireEvent.keyDown(document.body, { key: 'k' });
    await fireEvent.keyDown(document.body, { key: 'k' });
    app.router.go(`#/activity?call=${call.id}`);
    await waitFor(() => expect(screen.getByTestId('drawer').textContent).toContain(call.id));
    await fireEvent.keyDown(document.body, { key: 'b' });
    await fireEvent.keyDown(document.body, { key: 'b', repeat: true });
    expect(acts.mock.calls.map(([one]) => one)).toEqual([
      { kind: 'block', target: { server: call.server, tool: call.tool, client: call.client }, reason: null },
    ]);
    app.router.go(`#/activity?view=runs&call=${call.id}`);
    await screen.findByTestId('runs');
    await fireEvent.keyDown(document.body, { key: 'b' });
    expect(acts).toHaveBeenCalledTimes(1);
  });

  it('runs are those with a call that matches, by whatever is chosen', async () => {
    show('#/activity?view=runs');
    await screen.findByTestId('runs');
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    const call = backend.world.makeCall(session, tool, { url: 'https://onlyhere.example' }, Date.now(), false);
    app.router.go('#/activity?view=runs&q=onlyhere');
    const open = await waitFor(() => {
      const found = within(screen.getByTestId('runs')).getAllByRole('button', { name: /show this run/ });
      expect(found.length).toBe(1);
      return found[0]!;
    });
    expect(open.closest('tr')!.textContent).toContain(call.server);
    app.router.go('#/activity?view=runs&q=nowhereatall');
    await screen.findByText('Nothing matches');
  });

  it('searching in Runs narrows them, and "/" leads to the search', async () => {
    show('#/activity?view=runs');
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    backend.world.makeCall(session, tool, { url: 'https://onlyhere.example' }, Date.now(), false);
    await fireEvent.keyDown(document.body, { key: '/' });
    const search = screen.getByTestId('search');
    expect(document.activeElement).toBe(search);
    await fireEvent.input(search, { target: { value: 'onlyhere' } });
    await waitFor(() => expect(runs().length).toBe(1));
    expect(screen.getByTestId<HTMLSelectElement>('filter-tool').disabled).toBe(false);
    expect(screen.getByText<HTMLButtonElement>('Denied').disabled).toBe(false);
  });

  it('what kind of entry the log shows is not asked of runs', async () => {
    show('#/activity?view=runs&only=changes');
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
  });

  it('arrows walk through runs, from the newest, which is last as in the log', async () => {
    show('#/activity?view=runs');
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
    const [newest] = await backend.runs(null, 1);
    expect(runs().at(-1)!.closest('tr')!.textContent).toContain(newest!.server);
    const all = runs();
    await fireEvent.keyDown(document.body, { key: 'ArrowUp' });
    expect(document.activeElement).toBe(all.at(-1));
    await fireEvent.keyDown(all.at(-1)!, { key: 'ArrowUp' });
    expect(document.activeElement).toBe(all.at(-2));
    await fireEvent.keyDown(all.at(-2)!, { key: 'ArrowDown' });
    expect(document.activeElement).toBe(all.at(-1));
    for (const [view, order] of [
      ['view-log', 'newest last'],
      ['view-runs', 'newest last'],
    ] as const)
      expect(screen.getByTestId(view).title).toContain(order);
  });

  it('the chip of one session says whose it is', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(2));
    const call =
      [...backend.world.calls()].findLast((one) => one.client === 'cursor') ?? [...backend.world.calls()].at(-1)!;
    app.router.go(`#/activity?session=${call.session}`);
    const chip = await waitFor(() => {
      const found = document.querySelector('.chip.on');
      expect(found!.textContent).toContain(call.server);
      return found!;
    });
    expect(chip.textContent).toMatch(/\S+ → /);
    expect(chip.textContent).toContain(call.session);
  });

  it('runs that could not be read are there after another try', async () => {
    ticksOf(4_000);
    show('#/activity?view=runs', { fail: ['runs'] });
    await fireEvent.click(await screen.findByText('Try again'));
    expect(screen.getByText('Runs cannot be read')).toBeTruthy();
    backend.runs = fakeBackend({ calls: 300, rate: 0 }).runs;
    await fireEvent.click(screen.getByText('Try again'));
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
  });

  it('older runs stay when the newest are read again, also if pages are short', async () => {
    const ticks = ticksOf(4_000);
    show('#/activity?view=runs&server=files', { looks: 40 });
    const settled = () => new Promise((resolve) => setTimeout(resolve));
    const again = async () => {
      for (const one of ticks) one();
      await settled();
    };
    await waitFor(() => expect(runs().length).toBeGreaterThan(0));
    const newest = runs().length;
    expect(newest).toBeLessThan(60);
    await fireEvent.click(screen.getByTestId('runs-older'));
    await waitFor(() => expect(runs().length).toBeGreaterThan(newest));
    const some = runs();
    const asked = vi.spyOn(backend, 'runsMatching');
    await again();
    expect(asked.mock.calls.map(([, before]) => before)).toEqual([null]);
    expect(runs()).toEqual(some);

    // On to the oldest. Then there is nothing more to ask for, and that stays so.
    for (let button; (button = screen.queryByTestId('runs-older')); await settled()) await fireEvent.click(button);
    await again();
    expect(screen.queryByTestId('runs-older')).toBeNull();
    let [page, all] = [await backend.runsMatching({ server: 'files' }, null, 60), 0];
    for (; page.older !== null; page = await backend.runsMatching({ server: 'files' }, page.older, 60))
      all += page.runs.length;
    expect(runs().length).toBe(all + page.runs.length);
  });

  it('runs within a range that moves with the clock stay while it moves', async () => {
    ticksOf(4_000);
    show('#/activity?view=runs&last=7d');
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
    const before = runs();
    const asked = vi.spyOn(backend, 'runsMatching');
    app.nowMs += 60_000;
    await tick();
    expect(asked).not.toHaveBeenCalled();
    expect(runs()).toEqual(before);
  });

  it('a press keeps its row, from before until after the rows begin to slide', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    // Rows that just moved are not pressed by mistake: as if they stood for long.
    const clock = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => clock() + 10_000);
    const row = rows().at(-1)!;
    const { call } = row.dataset;
    await fireEvent.pointerDown(row, { button: 0 });
    backend.world.makeCall(session, tool, { url: 'https://a.example' }, Date.now(), false);
    await waitFor(() => expect(screen.getByTestId('new-pill').textContent).toContain('1 new'));
    await fireEvent.pointerLeave(screen.getByTestId('log'));
    expect(row.isConnected).toBe(true);
    expect(row.dataset.call).toBe(call);
    await fireEvent.pointerUp(row);
    await fireEvent.click(row);
    await waitFor(() => expect(screen.getByTestId('drawer').textContent).toContain(call));
  });

  it('rows that follow take on what comes: a thousand calls make no more of them', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const before = rows();
    const elements = document.querySelectorAll('*').length;
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = backend.world.server('fetch')!.tools[0]!;
    let last = '';
    for (let n = 0; n < 1_000; n += 1) {
      last = backend.world.makeCall(session, tool, { url: `https://a.example/${n}` }, Date.now(), false).id;
    }
    await waitFor(() => expect(rows().at(-1)!.dataset.call).toBe(last));
    expect(rows()).toEqual(before);
    expect(before.every((row, at) => row === rows()[at])).toBe(true);
    // Icons and marks differ from call to call.
    expect(document.querySelectorAll('*').length).toBeLessThan(elements + before.length * 8);
  });

  it('undo pressed twice sends its token once', async () => {
    show('#/activity');
    await openFree();
    const undone = vi.spyOn(backend, 'undo');
    await fireEvent.keyDown(document.body, { key: 'h' });
    const button = await screen.findByTestId('undo');
    expect(screen.queryByTestId('reason')).toBeNull();
    void fireEvent.click(button);
    void fireEvent.click(button);
    await fireEvent.keyDown(document.body, { key: 'u' });
    await waitFor(() => expect(screen.queryByTestId('undo')).toBeNull());
    expect(undone).toHaveBeenCalledTimes(1);
  });

  it('a search typed just before leaving does not call back', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    await fireEvent.input(screen.getByTestId('search'), { target: { value: 'read' } });
    app.router.go('#/settings');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(location.hash).toBe('#/settings');
  });

  it('the menu key shows what can be done about the chosen row', async () => {
    show('#/activity');
    await openFree();
    await fireEvent.keyDown(document.body, { key: '.' });
    expect(await screen.findByTestId('menu-cap')).toBeTruthy();
    expect(screen.getByTestId('menu-hide')).toBeTruthy();
  });

  it('a row of a tool that is blocked by now offers to allow it, and says so to the key', async () => {
    show('#/activity?decision=allowed&server=files');
    await waitFor(() => expect(rows().length).toBeGreaterThan(1));
    const row = () => rows().at(-1)!;
    await fireEvent.pointerMove(row());
    const call = [...backend.world.calls()].find((line) => line.id === row().dataset.call)!;
    await waitFor(() => expect(within(row()).getByTestId('row-block')).toBeTruthy());
    await fireEvent.click(within(row()).getByTestId('row-block'));
    await waitFor(() => expect(within(row()).getByTestId('row-blocked').textContent).toBe('Blocked'));
    expect(within(row()).queryByTestId('row-block')).toBeNull();
    expect(within(row()).getByTestId('row-allow')).toBeTruthy();
    const acts = vi.spyOn(backend, 'restrict');
    await fireEvent.pointerMove(screen.getByTestId('rail-servers'));
    await fireEvent.keyDown(document.body, { key: 'k' });
    await waitFor(() => expect(row().getAttribute('aria-selected')).toBe('true'));
    await fireEvent.keyDown(document.body, { key: 'b' });
    const said = screen.getAllByTestId('toast').map((one) => one.textContent);
    expect(said.join()).toContain(`${call.tool} is blocked already. To allow it, press a.`);
    expect(acts).not.toHaveBeenCalled();
  });

  it('a call that was only stopped offers no Allow, and is blocked by the key', async () => {
    show('#/activity?server=files');
    const session = backend.world.sessions.find((one) => one.server === 'files' && one.endedMs === null)!;
    const tool = backend.world.server('files')!.tools[0]!;
    const line = backend.world.makeCall(session, tool, { path: '/x' }, Date.now(), false);
    const entry = backend.world.entries.at(-1)!;
    Object.assign(entry.line, { decision: 'stopped', refused: true, outcome: 'not_sent', rule: '(stopped)' });
    const row = () => rows().find((one) => one.dataset.call === line.id)!;
    await waitFor(() => expect(row()?.dataset.decision).toBe('stopped'));
    await fireEvent.pointerMove(row());
    await waitFor(() => expect(within(row()).getByTestId('row-block')).toBeTruthy());
    expect(within(row()).queryByTestId('row-allow')).toBeNull();
    const acts = vi.spyOn(backend, 'restrict');
    await fireEvent.keyDown(document.body, { key: 'k' });
    await fireEvent.keyDown(document.body, { key: 'b' });
    await waitFor(() => expect(acts).toHaveBeenCalledTimes(1));
  });

  it('how tools stand is asked for all rows at once, not row by row', async () => {
    show('#/activity');
    const asked = vi.spyOn(backend, 'access');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    await waitFor(() => expect(asked).toHaveBeenCalled());
    const before = asked.mock.calls.length;
    for (const row of rows()) await fireEvent.pointerMove(row);
    expect(asked.mock.calls.length).toBeLessThanOrEqual(before + 1);
    expect(asked.mock.calls[0]![0].length).toBeGreaterThan(1);
  });

  it('buttons of a row go when the pointer is elsewhere, however it left', async () => {
    show('#/activity?decision=allowed');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    await fireEvent.pointerMove(rows().at(-1)!);
    expect(screen.queryAllByTestId('row-block').length).toBe(1);
    // The row was replaced under it, so nobody is told that the pointer left the list.
    await fireEvent.pointerMove(screen.getByTestId('rail-servers'));
    expect(screen.queryAllByTestId('row-block').length).toBe(0);
  });

  it('right click opens the menu of the row at the pointer, and nowhere the one of the browser', async () => {
    show('#/activity?decision=allowed');
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
    const row = rows().at(-2)!;
    const { call } = row.dataset;
    expect(await fireEvent.contextMenu(row, { clientX: 300, clientY: 200 })).toBe(false);
    for (const one of ['block-tool-client', 'menu-cap', 'menu-copy', 'menu-filter', 'menu-rule'])
      expect(screen.getByTestId(one)).toBeTruthy();
    expect(
      rows()
        .find((one) => one.dataset.call === call)!
        .getAttribute('aria-selected'),
    ).toBe('true');
    const line = [...backend.world.calls()].find((one) => one.id === call)!;
    await fireEvent.click(screen.getByTestId('menu-filter'));
    expect(location.hash).toBe(`#/activity?server=${line.server}&tool=${line.tool}`);
    expect(await fireEvent.contextMenu(screen.getByTestId('rail-servers'))).toBe(false);
    // Where text is typed, cut and paste stay.
    expect(await fireEvent.contextMenu(screen.getByTestId('search'))).toBe(true);
  });

  /** One call that its server's cap refuses. */
  function capped(server: string, n: number) {
    const session = backend.world.sessions.find((one) => one.server === server && one.endedMs === null)!;
    const { tools } = backend.world.server(server)!;
    backend.world.makeCall(session, tools[n % tools.length]!, { n }, Date.now(), false);
    const rule = '/all_tools/limits/0';
    const foldKey = `${session.session} capped ${rule}`;
    const { line } = backend.world.entries.at(-1)!;
    Object.assign(line, { decision: 'capped', refused: true, outcome: 'not_sent', rule, foldKey });
    return session;
  }

  it('a loop over several tools is one row, opens into its calls by key, and can be capped for an hour', async () => {
    show('#/activity?server=github');
    await waitFor(() => expect(rows().length).toBeGreaterThan(2));
    let session = capped('github', 0);
    for (let n = 1; n < 6; n += 1) session = capped('github', n % 3);
    const row = () => rows().find((one) => one.textContent.includes('× 6'))!;
    await waitFor(() => expect(row()).toBeTruthy());
    expect(row().textContent).toContain('3 tools');
    await fireEvent.keyDown(document.body, { key: 'k' });
    await fireEvent.keyDown(screen.getByTestId('log'), { key: 'ArrowRight' });
    const parts = () => rows().filter((one) => one.dataset.part !== undefined);
    await waitFor(() => expect(parts().length).toBe(6));
    expect(new Set(rows().map((one) => one.dataset.call)).size).toBeGreaterThanOrEqual(6);
    await fireEvent.keyDown(screen.getByTestId('log'), { key: 'ArrowDown' });
    await waitFor(() => expect(parts()[0]!.getAttribute('aria-selected')).toBe('true'));
    expect(row().getAttribute('aria-selected')).toBe('false');
    await fireEvent.keyDown(screen.getByTestId('log'), { key: 'ArrowLeft' });
    await waitFor(() => expect(parts().length).toBe(0));
    expect(row().getAttribute('aria-selected')).toBe('true');
    // By mouse, too.
    await fireEvent.pointerMove(row());
    await fireEvent.click(within(row()).getByTestId('row-fold'));
    await waitFor(() => expect(parts().length).toBe(6));
    const acts = vi.spyOn(backend, 'restrict');
    await fireEvent.contextMenu(row(), { clientX: 30, clientY: 30 });
    await fireEvent.click(screen.getByTestId('menu-cap-loop'));
    const target = { server: 'github', tool: null, client: session.client };
    expect(acts).toHaveBeenCalledWith({ kind: 'capFor', target, max: 10, window: 'minute', minutes: 60 });
  });

  it('two loops that take turns are two rows, each with its calls and its cap', async () => {
    show('#/activity');
    await waitFor(() => expect(rows().length).toBeGreaterThan(2));
    let client: string | null = null;
    for (let turn = 0; turn < 40; turn += 1) {
      ({ client } = capped('github', 0));
      capped('fetch', 0);
    }
    const loops = () => rows().filter((row) => row.textContent.includes('× 40'));
    await waitFor(() => expect(loops().length).toBe(2));
    // What is inside of the first are its own calls only.
    await fireEvent.pointerMove(loops()[0]!);
    await fireEvent.click(within(loops()[0]!).getByTestId('row-fold'));
    const parts = () => rows().filter((row) => row.dataset.part !== undefined);
    await waitFor(() => expect(parts().length).toBeGreaterThan(3));
    expect(parts().every((row) => row.textContent.includes('github'))).toBe(true);
    const acts = vi.spyOn(backend, 'restrict');
    await fireEvent.contextMenu(loops()[0]!, { clientX: 30, clientY: 30 });
    await fireEvent.click(screen.getByTestId('menu-cap-loop'));
    const target = { server: 'github', tool: expect.anything(), client };
    expect(acts).toHaveBeenCalledWith({ kind: 'capFor', target, max: 10, window: 'minute', minutes: 60 });
  });

  it('a call that runs can be cancelled from its drawer', async () => {
    show('#/activity?server=fetch');
    await waitFor(() => expect(rows().length).toBeGreaterThan(1));
    const session = backend.world.sessions.find((one) => one.server === 'fetch')!;
    const tool = { ...backend.world.server('fetch')!.tools[0]!, ms: 600_000 };
    const call = backend.world.makeCall(session, tool, { url: 'https://slow.example' }, Date.now(), true);
    app.router.go(`#/activity?call=${call.id}`);
    await fireEvent.click(await screen.findByTestId('drawer-cancel'));
    await waitFor(() => expect(screen.getByTestId('drawer').textContent).toContain('Cancelled by you'));
    expect(screen.queryByTestId('drawer-cancel')).toBeNull();
    expect(
      screen
        .getAllByTestId('toast')
        .map((one) => one.textContent)
        .join(),
    ).toContain('the agent were told');
  });
});
