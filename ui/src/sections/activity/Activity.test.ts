// The section without a browser: what is shown and what is asked of the desk.
import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { App } from '../../lib/app.svelte';
import type { CallDetail, CallLine, LogEntry, ToolAccess } from '../../lib/backend';
import type { CallEntry } from '../../lib/log/key';
import { RecordedDesk } from '../../testing/desk';
import { press, show, toasts } from '../../testing/window';

let desk: RecordedDesk;
let app: App;
beforeEach(() => (desk = new RecordedDesk()));

const isCall = (entry: LogEntry): entry is CallEntry => entry.kind === 'call';
const rows = () => screen.getAllByTestId('row');
const runs = () => within(screen.getByTestId('runs')).getAllByRole('button', { name: /show this run/ });
const drawer = () => screen.getByTestId('drawer').textContent;

/** The log, once its rows are there. */
async function log(hash = '#/activity') {
  app = show(desk, hash);
  await waitFor(() => expect(rows().length).toBeGreaterThan(5));
}

/** What the desk said of a call that was let through. */
const passed = (): CallDetail => desk.all('call').find(({ line }) => line.decision === 'allowed')!;
const lineOf = (row: HTMLElement): CallEntry =>
  desk
    .recorded('logPage')
    .entries.filter(isCall)
    .find(({ id }) => id === row.dataset.call)!;

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
  await log();
  const { id } = passed().line;
  app.router.go(`#/activity?call=${id}`);
  await waitFor(() => expect(drawer()).toContain(id));
}

describe('Activity', () => {
  it('shows rows, and the status of the gate', async () => {
    await log();
    const { status } = desk.recorded('overview');
    await waitFor(() => expect(screen.getByTestId('status').textContent).toContain(status));
    await waitFor(() => expect(document.body.dataset.ready).toBe('1'));
  });

  it('says of each row what its tool can do, and nothing of a tool that no server listed', async () => {
    const page = desk.recorded('logPage');
    const [first, second] = page.entries.filter(isCall).slice(-2);
    first!.class = { class: 'Destructive', severity: 'Critical', confidence: 'high', corrected: false };
    second!.class = null;
    desk.answer('logPage', page);
    await log();
    const row = (id: string) => rows().find((one) => one.dataset.call === id)!;
    const mark = within(row(first!.id)).getByTestId('class');
    expect([mark.textContent, mark.title]).toEqual(['Destructive', 'Destructive, critical']);
    expect(within(row(second!.id)).queryByTestId('class')).toBeNull();
  });

  it('takes the rows that are there for what comes, until somebody points at one', async () => {
    await log();
    const last = rows().at(-1)!;
    const first = desk.newer();
    desk.come(first);
    await waitFor(() => expect(rows().at(-1)!.dataset.call).toBe(first.id));
    expect(rows().at(-1)).toBe(last);

    const point = () => void fireEvent.pointerMove(rows().at(-1)!);
    point();
    await tick();
    const pointed = rows().find((row) => row.dataset.call === first.id)!;
    desk.come(desk.newer());
    await waitFor(() => (point(), expect(screen.getByTestId('new-pill').textContent).toContain('1 new')));
    expect(pointed.isConnected).toBe(true);
    expect(pointed.dataset.call).toBe(first.id);
  });

  it('says the next step when there is nothing', async () => {
    show(new RecordedDesk('first'), '#/activity');
    expect(await screen.findByText('No calls yet')).toBeTruthy();
    expect(screen.getByText('Step by step')).toBeTruthy();
  });

  it('says what went wrong, and tries again', async () => {
    desk.fail('logPage');
    show(desk, '#/activity');
    expect(await screen.findByText('The log cannot be read')).toBeTruthy();
    expect(screen.getByText(/Free some space/)).toBeTruthy();
    desk.mend('logPage');
    await fireEvent.click(screen.getByText('Try again'));
    await waitFor(() => expect(rows().length).toBeGreaterThan(5));
  });

  it('shows a call that the address asks for, with hostile text marked', async () => {
    const hostile = desk.all('call').find(({ line }) => line.tool === 'browser_navigate')!;
    const text = JSON.stringify({ url: 'https://a\u202eb<img src=x onerror=alert(1)>' });
    desk.answer('call', { ...hostile, args: { ...hostile.args!, text } });
    await log();
    app.router.go(`#/activity?call=${hostile.line.id}`);
    const open = await screen.findByTestId('drawer');
    await waitFor(() => expect(open.textContent).toContain('U+202E'));
    expect(open.textContent).toContain('<img src=x onerror=alert(1)>');
    expect(open.querySelector('img')).toBeNull();
  });

  it('keys act on the call in the drawer, once, and on none while runs are shown', async () => {
    await log();
    // Some other row is chosen; then a notification opens this call.
    await fireEvent.keyDown(document.body, { key: 'k' });
    await fireEvent.keyDown(document.body, { key: 'k' });
    const { id, server, tool, client } = passed().line;
    app.router.go(`#/activity?call=${id}`);
    await waitFor(() => expect(drawer()).toContain(id));
    await fireEvent.keyDown(document.body, { key: 'b' });
    await fireEvent.keyDown(document.body, { key: 'b', repeat: true });
    const restriction = { kind: 'block', target: { server, tool, client }, reason: null };
    expect(desk.asked('restrict')).toEqual([{ restriction }]);
    app.router.go(`#/activity?view=runs&call=${id}`);
    await screen.findByTestId('runs');
    await fireEvent.keyDown(document.body, { key: 'b' });
    expect(desk.asked('restrict')).toHaveLength(1);
  });

  it('searching in Runs narrows them, and "/" leads to the search', async () => {
    const { runs: some } = desk.recorded('runsMatching');
    desk.answer('runsMatching', ({ filter }) => ({
      runs: filter.text === 'onlyhere' ? some.slice(0, 1) : [],
      older: null,
    }));
    show(desk, '#/activity?view=runs');
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
    await fireEvent.keyDown(document.body, { key: '/' });
    const search = screen.getByTestId('search');
    expect(document.activeElement).toBe(search);
    await fireEvent.input(search, { target: { value: 'onlyhere' } });
    await waitFor(() => expect(runs().length).toBe(1));
    expect(screen.getByTestId<HTMLSelectElement>('filter-tool').disabled).toBe(false);
    expect(screen.getByText<HTMLButtonElement>('Denied').disabled).toBe(false);
    await fireEvent.input(search, { target: { value: 'nowhereatall' } });
    await screen.findByText('Nothing matches');
  });

  it('what kind of entry the log shows is not asked of runs', async () => {
    show(desk, '#/activity?view=runs&only=changes');
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
    expect(desk.asked('runsMatching')).toEqual([]);
  });

  it('arrows walk through runs, from the newest, which is last as in the log', async () => {
    show(desk, '#/activity?view=runs');
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
    expect(runs().at(-1)!.closest('tr')!.textContent).toContain(desk.recorded('runs')[0]!.server);
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
    await log();
    const call = passed().line;
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
    desk.fail('runs');
    show(desk, '#/activity?view=runs');
    await fireEvent.click(await screen.findByText('Try again'));
    expect(screen.getByText('Runs cannot be read')).toBeTruthy();
    desk.mend('runs');
    await fireEvent.click(screen.getByText('Try again'));
    await waitFor(() => expect(runs().length).toBeGreaterThan(1));
  });

  it('older runs stay when the newest are read again, also if pages are short', async () => {
    const ticks = ticksOf(4_000);
    const all = desk.recorded('runs');
    // Two a page, with an empty one between them.
    const page = (from: number) =>
      from % 2 === 1 ? { runs: [], older: from + 1 } : { runs: all.slice(from, from + 2), older: from + 1 };
    desk.answer('runsMatching', ({ before }) => {
      const { runs: found, older } = page(before ?? 0);
      return { runs: found, older: older < all.length ? older : null };
    });
    const settled = () => new Promise((resolve) => setTimeout(resolve));
    const again = async () => {
      for (const one of ticks) one();
      await settled();
    };
    show(desk, '#/activity?view=runs&server=files');
    await waitFor(() => expect(runs().length).toBe(2));
    await press('runs-older');
    await waitFor(() => expect(runs().length).toBe(4));
    const some = runs();
    const before = desk.asked('runsMatching').length;
    await again();
    expect(desk.asked('runsMatching').slice(before)).toMatchObject([{ before: null }]);
    expect(runs()).toEqual(some);

    // On to the oldest. Then there is nothing more to ask for, and that stays so.
    for (let button; (button = screen.queryByTestId('runs-older')); await settled()) await fireEvent.click(button);
    await again();
    expect(screen.queryByTestId('runs-older')).toBeNull();
    expect(runs().length).toBe(all.length);
  });

  it('runs within a range that moves with the clock stay while it moves', async () => {
    ticksOf(4_000);
    app = show(desk, '#/activity?view=runs&last=7d');
    await waitFor(() => expect(runs().length).toBeGreaterThan(0));
    const before = runs();
    const asked = desk.asked('runsMatching').length;
    app.nowMs += 60_000;
    await tick();
    expect(desk.asked('runsMatching')).toHaveLength(asked);
    expect(runs()).toEqual(before);
  });

  it('a press keeps its row, from before until after the rows begin to slide', async () => {
    await log();
    const line = desk.newer();
    desk.answer('call', { ...passed(), line });
    desk.come(line);
    await waitFor(() => expect(rows().at(-1)!.dataset.call).toBe(line.id));
    // Rows that just moved are not pressed by mistake: as if they stood for long.
    const clock = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => clock() + 10_000);
    const row = rows().at(-1)!;
    const { call } = row.dataset;
    await fireEvent.pointerDown(row, { button: 0 });
    desk.come(desk.newer());
    await waitFor(() => expect(screen.getByTestId('new-pill').textContent).toContain('1 new'));
    await fireEvent.pointerLeave(screen.getByTestId('log'));
    expect(row.isConnected).toBe(true);
    expect(row.dataset.call).toBe(call);
    await fireEvent.pointerUp(row);
    await fireEvent.click(row);
    await waitFor(() => expect(drawer()).toContain(call));
  });

  it('rows that follow take on what comes: a thousand calls make no more of them', async () => {
    await log();
    const before = rows();
    const elements = document.querySelectorAll('*').length;
    const thousand = Array.from({ length: 1_000 }, () => desk.newer());
    for (let at = 0; at < 1_000; at += 50) desk.come(...thousand.slice(at, at + 50));
    await waitFor(() => expect(rows().at(-1)!.dataset.call).toBe(thousand.at(-1)!.id));
    expect(rows()).toEqual(before);
    expect(before.every((row, at) => row === rows()[at])).toBe(true);
    // Icons and marks differ from call to call.
    expect(document.querySelectorAll('*').length).toBeLessThan(elements + before.length * 8);
  });

  it('undo pressed twice sends its token once', async () => {
    await openFree();
    await fireEvent.keyDown(document.body, { key: 'h' });
    const button = await screen.findByTestId('undo');
    expect(screen.queryByTestId('reason')).toBeNull();
    void fireEvent.click(button);
    void fireEvent.click(button);
    await fireEvent.keyDown(document.body, { key: 'u' });
    await waitFor(() => expect(desk.asked('undo').length).toBeGreaterThan(0));
    await waitFor(() => expect(toasts()).toContain('Undone'));
    expect(desk.asked('undo')).toHaveLength(1);
  });

  it('a search typed just before leaving does not call back', async () => {
    await log();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await fireEvent.input(screen.getByTestId('search'), { target: { value: 'read' } });
    app.router.go('#/settings');
    vi.runAllTimers();
    vi.useRealTimers();
    expect(location.hash).toBe('#/settings');
  });

  it('the menu key shows what can be done about the chosen row', async () => {
    await openFree();
    await fireEvent.keyDown(document.body, { key: '.' });
    expect(await screen.findByTestId('menu-cap')).toBeTruthy();
    expect(screen.getByTestId('menu-hide')).toBeTruthy();
  });

  const blocked = (line: CallLine): ToolAccess => ({
    kind: 'blocked',
    words: 'Blocked now',
    target: { server: line.server, tool: line.tool, client: line.client },
  });

  /** The newest row that was let through, chosen by key. */
  async function chooseFree(): Promise<() => HTMLElement> {
    const line = desk.newer();
    desk.come(line);
    const row = () => rows().at(-1)!;
    await waitFor(() => expect(row().dataset.call).toBe(line.id));
    await fireEvent.keyDown(document.body, { key: 'k' });
    await waitFor(() => expect(row().getAttribute('aria-selected')).toBe('true'));
    return row;
  }

  it('a row of a tool that is blocked by now offers to allow it, and says so to the key', async () => {
    await log();
    const line = desk.newer({ tool: 'search' });
    desk.come(line);
    const row = () => rows().at(-1)!;
    await waitFor(() => expect(row().dataset.call).toBe(line.id));
    await fireEvent.pointerMove(row());
    await waitFor(() => expect(within(row()).getByTestId('row-block')).toBeTruthy());
    desk.answer('access', ({ queries }) => queries.map(() => blocked(line)));
    await press('row-block', row());
    await waitFor(() => expect(within(row()).getByTestId('row-blocked').textContent).toBe('Blocked'));
    expect(within(row()).queryByTestId('row-block')).toBeNull();
    expect(within(row()).getByTestId('row-allow')).toBeTruthy();
    await fireEvent.pointerMove(screen.getByTestId('rail-servers'));
    await fireEvent.keyDown(document.body, { key: 'k' });
    await waitFor(() => expect(row().getAttribute('aria-selected')).toBe('true'));
    await fireEvent.keyDown(document.body, { key: 'b' });
    await waitFor(() => expect(toasts()).toContain('search is blocked already. To allow it, press a.'));
    expect(desk.asked('restrict')).toHaveLength(1);
  });

  it('a key right after an undo acts, also where the row has not heard of it yet', async () => {
    await log();
    desk.answer('access', ({ queries }) => queries.map(() => blocked(passed().line)));
    const row = await chooseFree();
    await waitFor(() => expect(within(row()).getByTestId('row-blocked')).toBeTruthy());
    // It is undone elsewhere: this window hears of it with its next look.
    desk.answer('access', ({ queries }) => queries.map(() => ({ kind: 'open' as const })));
    await fireEvent.keyDown(document.body, { key: 'c' });
    expect(await screen.findByTestId('cap-custom')).toBeTruthy();
    expect(toasts()).not.toContain('blocked already');
  });

  it('a call that was only stopped offers no Allow, and is blocked by the key', async () => {
    await log();
    const line = desk.newer({ decision: 'stopped', refused: true, outcome: 'not_sent', rule: '(stopped)' });
    desk.come(line);
    const row = () => rows().find((one) => one.dataset.call === line.id)!;
    await waitFor(() => expect(row()?.dataset.decision).toBe('stopped'));
    await fireEvent.pointerMove(row());
    await waitFor(() => expect(within(row()).getByTestId('row-block')).toBeTruthy());
    expect(within(row()).queryByTestId('row-allow')).toBeNull();
    await fireEvent.keyDown(document.body, { key: 'k' });
    await fireEvent.keyDown(document.body, { key: 'b' });
    await waitFor(() => expect(desk.asked('restrict')).toHaveLength(1));
  });

  it('how tools stand is asked for all rows at once, not row by row', async () => {
    await log();
    await waitFor(() => expect(desk.asked('access').length).toBeGreaterThan(0));
    const before = desk.asked('access').length;
    for (const row of rows()) await fireEvent.pointerMove(row);
    expect(desk.asked('access').length).toBeLessThanOrEqual(before + 1);
    expect(desk.asked('access')[0]!.queries.length).toBeGreaterThan(1);
  });

  it('buttons of a row go when the pointer is elsewhere, however it left', async () => {
    await log();
    await fireEvent.pointerMove(rows().findLast((row) => row.dataset.decision === 'allowed')!);
    expect(screen.queryAllByTestId('row-block').length).toBe(1);
    // The row was replaced under it, so nobody is told that the pointer left the list.
    await fireEvent.pointerMove(screen.getByTestId('rail-servers'));
    expect(screen.queryAllByTestId('row-block').length).toBe(0);
  });

  it('right click opens the menu of the row at the pointer, and nowhere the one of the browser', async () => {
    await log();
    const row = rows().findLast((one) => one.dataset.decision === 'allowed')!;
    const line = lineOf(row);
    expect(await fireEvent.contextMenu(row, { clientX: 300, clientY: 200 })).toBe(false);
    for (const one of ['block-tool-client', 'menu-cap', 'menu-copy', 'menu-filter', 'menu-rule'])
      expect(screen.getByTestId(one)).toBeTruthy();
    const chosen = rows().find((one) => one.dataset.call === line.id)!;
    expect(chosen.getAttribute('aria-selected')).toBe('true');
    await press('menu-filter');
    expect(location.hash).toBe(`#/activity?server=${line.server}&tool=${line.tool}`);
    expect(await fireEvent.contextMenu(screen.getByTestId('rail-servers'))).toBe(false);
    // Where text is typed, cut and paste stay.
    expect(await fireEvent.contextMenu(screen.getByTestId('search'))).toBe(true);
  });

  it('a loop over several tools is one row, opens into its calls by key, and can be capped for an hour', async () => {
    await log();
    const rule = '/all_tools/limits/0';
    const loop = ['get', 'list', 'send', 'get', 'list', 'send'].map((tool) =>
      desk.newer({ tool, decision: 'capped', refused: true, outcome: 'not_sent', rule, foldKey: `s1 capped ${rule}` }),
    );
    const whole = desk.recorded('logPage');
    desk.answer('logPage', ({ filter }) => (filter.unfolded ? { ...whole, entries: loop } : whole));
    for (const one of loop) desk.come(one);
    const row = () => rows().find((one) => one.textContent.includes('× 6'))!;
    await waitFor(() => expect(row()).toBeTruthy());
    expect(row().textContent).toContain('3 tools');
    await fireEvent.keyDown(document.body, { key: 'k' });
    await fireEvent.keyDown(screen.getByTestId('log'), { key: 'ArrowRight' });
    const parts = () => rows().filter((one) => one.dataset.part !== undefined);
    await waitFor(() => expect(parts().length).toBe(6));
    await fireEvent.keyDown(screen.getByTestId('log'), { key: 'ArrowDown' });
    await waitFor(() => expect(parts()[0]!.getAttribute('aria-selected')).toBe('true'));
    expect(row().getAttribute('aria-selected')).toBe('false');
    await fireEvent.keyDown(screen.getByTestId('log'), { key: 'ArrowLeft' });
    await waitFor(() => expect(parts().length).toBe(0));
    expect(row().getAttribute('aria-selected')).toBe('true');
    // By mouse, too.
    await fireEvent.pointerMove(row());
    await press('row-fold', row());
    await waitFor(() => expect(parts().length).toBe(6));
    await fireEvent.contextMenu(row(), { clientX: 30, clientY: 30 });
    await press('menu-cap-loop');
    const target = { server: loop[0]!.server, tool: null, client: loop[0]!.client };
    const restriction = { kind: 'capFor', target, max: 10, window: 'minute', minutes: 60 };
    expect(desk.asked('restrict')).toEqual([{ restriction }]);
  });

  it('a call that runs can be cancelled from its drawer', async () => {
    const detail = passed();
    const running = { ...detail.line, outcome: null, durationUs: null };
    desk.answer('call', { ...detail, line: running, result: null });
    const words = 'Cancelled: its server and the agent were told';
    desk.answer('cancelCall', ({ id }) => {
      desk.answer('call', { ...detail, line: { ...running, outcome: 'cancelled' } });
      expect(id).toBe(running.id);
      return { words, undo: null, server: null, version: null, endsMs: null };
    });
    await log();
    app.router.go(`#/activity?call=${running.id}`);
    await press('drawer-cancel');
    await waitFor(() => expect(screen.queryByTestId('drawer-cancel')).toBeNull());
    expect(toasts()).toContain(words);
  });
});
