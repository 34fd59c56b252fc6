// A card in the whole window: what says yes and what never does, what a yes reaches, and what is told when it comes late.
import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, it, vi } from 'vitest';
import type { ApprovalView } from '../../lib/backend';
import { RecordedDesk } from '../../testing/desk';
import { accept, press, show, toasts } from '../../testing/window';

let desk: RecordedDesk;
let open: ApprovalView[];

const approval = (more: Partial<ApprovalView> = {}): ApprovalView => ({
  id: 'k3v9qa',
  call: 'aaaaaa-1',
  server: 'filesystem',
  client: 'claude-code',
  tool: 'write_file',
  rule: '/tools/write_file/action',
  reason: 'look twice',
  difference: null,
  arguments: '{"path":"/tmp/a"}',
  argumentsBytes: 17,
  complete: true,
  openedMs: Date.now() - 1_000,
  expiresMs: Date.now() + 3_600_000,
  heldUntilMs: Date.now() + 60_000,
  inBackground: false,
  asked: 1,
  approvedLately: 0,
  deniedLately: 0,
  state: 'open',
  decidedMs: null,
  decidedBy: null,
  words: null,
  ...more,
});

beforeEach(() => {
  desk = new RecordedDesk();
  open = [approval()];
  desk.answer('approvals', () => ({ open, ended: [], grants: [] }));
  desk.answer('decide', () => {
    open = [];
    return { done: { words: 'Decided', undo: null, server: null, version: null, endsMs: null }, tell: null };
  });
});

async function card(...of: Partial<ApprovalView>[]): Promise<HTMLElement> {
  if (of.length > 0) open = of.map((more) => approval(more));
  show(desk, '#/approvals');
  return (await screen.findAllByTestId('approval'))[0]!;
}
/** Once it listens: in its first moment nothing counts. */
async function listening(of: HTMLElement): Promise<void> {
  await waitFor(() => expect(within(of).getByTestId('allow-once').getAttribute('aria-disabled')).toBe('false'));
}
const click = (button: HTMLElement) => fireEvent.click(button, { detail: 1 });
const verdicts = () => desk.asked('decide').map(({ verdict }) => verdict);

it('for 400 ms after a card has come, and after one has gone, nothing counts', async () => {
  const first = await card({}, { id: 'zzzzzz', tool: 'move_file' });
  await click(within(first).getByTestId('allow-once'));
  await click(within(first).getByTestId('deny'));
  await fireEvent.keyDown(within(first).getByTestId('allow-once'), { key: 'Enter', ctrlKey: true });
  expect(verdicts()).toEqual([]);
  await listening(first);
  desk.answer('decide', () => {
    open = open.slice(1);
    return { done: { words: 'Decided', undo: null, server: null, version: null, endsMs: null }, tell: null };
  });
  await click(within(first).getByTestId('allow-once'));
  await waitFor(() => expect(screen.getAllByTestId('approval')).toHaveLength(1));
  const next = screen.getByTestId('approval');
  await click(within(next).getByTestId('allow-once'));
  expect(verdicts()).toEqual([{ kind: 'once' }]);
});

it('by key a yes takes two keys, and Escape says none', async () => {
  const one = await card();
  await listening(one);
  expect(one.contains(document.activeElement)).toBe(false);
  const allow = within(one).getByTestId('allow-once');
  for (const key of ['Enter', ' ', 'Escape']) await fireEvent.keyDown(allow, { key });
  // What a browser makes of Enter on a button: a click that no pointer made.
  await fireEvent.click(allow, { detail: 0 });
  await fireEvent.keyDown(allow, { key: 'Enter', ctrlKey: true, repeat: true });
  for (const target of [one, document.body]) await fireEvent.keyDown(target, { key: 'Escape' });
  expect(verdicts()).toEqual([]);
  expect(toasts()).toContain('press Ctrl and Enter');
  await fireEvent.keyDown(allow, { key: 'Enter', ctrlKey: true });
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'once' }]));
});

it('says what a yes reaches, and offers none for what is not shown whole', async () => {
  const one = await card({ asked: 3 });
  expect(within(one).getByTestId('means').textContent).toContain('exactly this call');
  expect(within(one).getByTestId('means').textContent).toContain('Of 3 equal calls it is one.');
  open = [approval({ id: 'cut111', complete: false, approvedLately: 20 })];
  await waitFor(() => expect(screen.queryByTestId('means')).toBeNull(), { timeout: 5_000 });
  const cut = screen.getByTestId('approval');
  for (const button of ['allow-once', 'allow-more'])
    expect(within(cut).getByTestId<HTMLButtonElement>(button).disabled).toBe(true);
  expect(within(cut).queryByTestId('advice-cap')).toBeNull();
});

it('a late yes says what to tell the client, to be copied', async () => {
  const write = vi.fn(async () => undefined);
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: write } });
  const words = 'The call of write_file is approved now: make it once more, with the same arguments.';
  desk.answer('decide', () => {
    open = [];
    return { done: { words: 'Approved', undo: null, server: null, version: null, endsMs: null }, tell: words };
  });
  const one = await card({ heldUntilMs: null });
  expect(within(one).getByTestId('clock').textContent).toContain('its client does not wait');
  await listening(one);
  await click(within(one).getByTestId('allow-once'));
  const late = await screen.findByTestId('late');
  expect(late.textContent).toContain('Claude Code has stopped waiting: tell it to go on.');
  await press('late-copy', late);
  await waitFor(() => expect(write).toHaveBeenCalledWith(words));
  vi.unstubAllGlobals();
});

it('what is held for longer than its client shows it goes on in the background', async () => {
  const one = await card({ inBackground: true });
  expect(within(one).getByTestId('clock').textContent).toContain('goes on in the background');
});

it('a yes that is said again and again becomes a rule with a cap by one click and its question', async () => {
  desk.answer('loosen', { kind: 'ask', token: 't', words: 'Let every client call it?', details: [], loosened: [] });
  desk.answer('confirm', { words: 'Allowed', undo: null, server: null, version: null, endsMs: null });
  const one = await card({ approvedLately: 8 });
  await listening(one);
  const button = within(one).getByTestId('advice-cap');
  await fireEvent.click(button, { detail: 0 });
  expect(verdicts()).toEqual([]);
  await click(button);
  await accept();
  expect(verdicts()).toEqual([{ kind: 'once' }]);
  const target = { server: 'filesystem', tool: 'write_file', client: null };
  expect(desk.asked('loosen')).toEqual([{ loosening: { kind: 'allowCapped', target, max: 10, window: 'minute' } }]);
});

it('what could not be decided any more makes no rule either', async () => {
  desk.fail('decide', { code: 'conflict', message: 'already denied' });
  const one = await card({ approvedLately: 8 });
  await listening(one);
  await click(within(one).getByTestId('advice-cap'));
  await waitFor(() => expect(toasts()).toContain('already denied'));
  expect(desk.asked('loosen')).toEqual([]);
});

it('a no to the same call, said again and again, becomes a block by one click', async () => {
  const one = await card({ deniedLately: 3, approvedLately: 20 });
  await listening(one);
  expect(one.textContent).toContain('You denied this very call 3 times this week.');
  await click(within(one).getByTestId('advice-block'));
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'deny', reason: null, block: true }]));
});

it('a yes for good offers a cap, and for a condition the rule that has it', async () => {
  const one = await card();
  await listening(one);
  await press('allow-more', one);
  for (const entry of ['allow-burst', 'allow-restart', 'allow-capped', 'allow-always'])
    expect(await screen.findByTestId(entry)).toBeTruthy();
  await fireEvent.keyDown(screen.getByTestId('allow-burst'), { key: 'Escape' });
  expect(verdicts()).toEqual([]);
  open = [approval({ id: 'cond11', rule: '/tools/write_file/ask_if/0', approvedLately: 20 })];
  await waitFor(() => expect(screen.getByTestId('approval').textContent).toContain('cond11'), { timeout: 5_000 });
  const conditional = screen.getByTestId('approval');
  expect(within(conditional).queryByTestId('advice-cap')).toBeNull();
  await listening(conditional);
  await press('allow-more', conditional);
  expect(await screen.findByTestId('change-rule')).toBeTruthy();
  expect(screen.queryByTestId('allow-always')).toBeNull();
});
