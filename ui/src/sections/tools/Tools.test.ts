// The section Tools in the whole window.
import { screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ToolPage } from '../../lib/backend';
import { RecordedDesk } from '../../testing/desk';
import { accept, press, show, toasts, type } from '../../testing/window';

let desk: RecordedDesk;
beforeEach(() => (desk = new RecordedDesk()));

const rows = () => screen.getAllByTestId('tool-row').map((row) => row.dataset.tool!);
const page = (): ToolPage => desk.recorded('tool', { server: 'playwright' });

describe('Tools', () => {
  it('lists every tool with class, severity and state in words; searching narrows it', async () => {
    show(desk, '#/tools');
    const [row] = await screen.findAllByTestId('tool-row');
    expect(within(row!).getByTestId('class').textContent).toMatch(
      /(Read|Write|Execute|Destructive|Financial)(Low|Medium|High|Critical)/,
    );
    const all = rows().length;
    expect(screen.getByTestId('tools-sum').textContent).toContain(`${all} tools`);
    await type('tools-find', 'browser_click');
    expect(rows()).toEqual(['browser_click']);
    await type('tools-find', 'no such tool');
    expect(screen.queryByTestId('tool-row')).toBeNull();
    expect(screen.getByTestId('tools').textContent).toContain('No tool fits');
  });

  it('says what to do where no tool is known yet', async () => {
    desk.answer('tools', { servers: [], tools: [], problem: null });
    show(desk, '#/tools');
    expect(await screen.findByText('No tools are known yet')).toBeTruthy();
    expect(screen.getByText('Go to Clients').getAttribute('href')).toBe('#/clients');
  });

  it('says why tools cannot be shown, and tries again', async () => {
    desk.fail('tools');
    show(desk, '#/tools');
    const again = await screen.findByText('Try again');
    expect(document.body.textContent).toContain('disk is full');
    desk.mend('tools');
    again.click();
    expect((await screen.findAllByTestId('tool-row')).length).toBeGreaterThan(0);
  });

  it('shows what a tool can do, with the words of its definition, its arguments and six answers', async () => {
    show(desk, `#/tools/playwright?tool=${page().row.name}`);
    expect((await screen.findByTestId('tool-reason')).textContent).toBe(page().reason);
    const questions = await screen.findByTestId('tool-questions');
    expect(questions.querySelectorAll('dt')).toHaveLength(6);
    expect(screen.getByTestId('tool-state').textContent).toContain(page().row.words);
  });

  it('text of a server is shown with what it hides, and is no markup', async () => {
    const hostile = 'ok\u202E gnitirw <img src=x onerror=alert(1)>';
    desk.answer('tool', {
      ...page(),
      description: hostile,
      findings: [{ code: 'bidi-control', place: 'description', quote: hostile, explanation: 'turns text around' }],
    });
    show(desk, `#/tools/playwright?tool=${page().row.name}`);
    const shown = await screen.findByTestId('tool-page');
    await waitFor(() => expect(shown.textContent).toContain('U+202E'));
    expect(shown.querySelector('img')).toBeNull();
    expect(screen.getByTestId('tool-finding').textContent).toContain('turns text around');
  });

  it('the main button puts the recommended rule in force, and it can be undone', async () => {
    const recommended = { ...page().recommended, act: 'limit' as const, label: 'Limit', inForce: false };
    desk.answer('tool', { ...page(), recommended });
    const undo = { token: 'token-9', untilMs: Date.now() + 10_000 };
    const done = { words: 'It is limited now', undo, server: 'playwright', version: null, endsMs: null };
    desk.answer('applyRecommended', { kind: 'done', ...done });
    show(desk, `#/tools/playwright?tool=${page().row.name}`);
    const apply = await screen.findByTestId('apply-rule');
    expect(apply.textContent).toBe('Limit');
    apply.click();
    await waitFor(() => expect(toasts()).toContain('It is limited now'));
    expect(desk.asked('applyRecommended')).toEqual([{ server: 'playwright', tool: page().row.name }]);
    expect(screen.getByTestId('undo')).toBeTruthy();
  });

  it('of a server it says what it costs, and hides what nobody uses with one click and Undo', async () => {
    const recorded = desk.recorded('serverPage', { server: 'playwright' });
    const unused = {
      words: '41 tools that no agent used in 30 days cost about 11,200 tokens at every start',
      days: 30,
      definitions: 11_200,
      names: ['browser_drag', 'browser_drop'],
    };
    const cost = { server: 'playwright', definitions: 14_000, calls: 3, results: 900, clients: [], tools: [], unused };
    desk.answer('serverPage', { ...recorded, cost: { ...cost, clients: [['Cursor', 900]] } });
    const undo = { token: 'token-3', untilMs: Date.now() + 10_000 };
    const done = {
      words: 'Hid 2 tools of playwright that nobody used',
      undo,
      server: 'playwright',
      version: null,
      endsMs: null,
    };
    desk.answer('hideUnused', done);
    show(desk, '#/tools/playwright');
    const said = await screen.findByTestId('server-cost');
    expect(said.textContent).toContain('14,000 tokens');
    expect(said.textContent).toContain('Cursor 900');
    expect(screen.getByTestId('server-unused').textContent).toContain('41 tools that no agent used in 30 days');
    screen.getByTestId('hide-unused').click();
    await waitFor(() => expect(toasts()).toContain('Hid 2 tools of playwright'));
    expect(desk.asked('hideUnused')).toEqual([{ server: 'playwright', names: unused.names }]);
  });

  it('asks before a rule lets more through than now', async () => {
    const recommended = { ...page().recommended, act: 'keep' as const, label: 'Keep allowed', inForce: false };
    desk.answer('tool', { ...page(), recommended });
    const question = { token: 't', words: 'Put the rule in force?', details: [], loosened: ['it is newly allowed'] };
    desk.answer('applyRecommended', { kind: 'ask', ...question });
    desk.answer('confirm', { words: 'Done so', undo: null, server: null, version: null, endsMs: null });
    show(desk, `#/tools/playwright?tool=${page().row.name}`);
    await press('apply-rule');
    expect((await screen.findByText('it is newly allowed')).textContent).toBeTruthy();
    expect(desk.asked('confirm')).toEqual([]);
    await accept();
    await waitFor(() => expect(toasts()).toContain('Done so'));
    expect(desk.asked('confirm')).toEqual([{ token: 't' }]);
  });

  it('rules to begin with say what they change, and take the place of what is there now', async () => {
    show(desk, '#/tools/playwright');
    const start = await screen.findByTestId('start-recommended');
    const point = desk.recorded('startingPoints').find(({ id }) => id === 'recommended')!;
    expect(within(start).getByTestId('start-words').textContent).toBe(point.words);
    await press('start-apply', start);
    await waitFor(() => expect(desk.asked('savePolicy')).toHaveLength(1));
    expect(desk.asked('savePolicy')[0]).toMatchObject({ server: 'playwright', text: point.text });
  });
});
