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
  masked: 0,
  class: null,
  compared: null,
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
  inConversation: false,
  ...more,
});

const destructive = { class: 'Destructive', severity: 'Critical', confidence: 'high', corrected: false } as const;

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

it('what masking hides is said, and takes a tick before anything says yes to it', async () => {
  const one = await card({ masked: 2, approvedLately: 8, arguments: '{"password":"[masked, 40 characters]"}' });
  await waitFor(() => expect(within(one).getByTestId('deny').getAttribute('aria-disabled')).toBe('false'));
  expect(within(one).getByTestId('hidden').textContent).toContain('2 values are hidden by masking');
  const off = (button: string) => within(one).getByTestId<HTMLButtonElement>(button).disabled;
  for (const button of ['allow-once', 'allow-more', 'advice-cap']) expect(off(button)).toBe(true);
  // A script's event reaches a button that is off.
  await fireEvent.keyDown(within(one).getByTestId('allow-once'), { key: 'Enter', ctrlKey: true });
  expect(verdicts()).toEqual([]);
  await click(within(one).getByTestId('blind'));
  for (const button of ['allow-once', 'allow-more', 'advice-cap']) expect(off(button)).toBe(false);
  await click(within(one).getByTestId('allow-once'));
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'once' }]));
});

it('Enter on the arrow and Enter in its menu say no yes: that takes two keys at once', async () => {
  const one = await card();
  await listening(one);
  const arrow = within(one).getByTestId('allow-more');
  arrow.focus();
  // What a browser makes of Enter on a button.
  await fireEvent.click(arrow, { detail: 0 });
  const entry = await screen.findByTestId('allow-restart');
  // The first one only opens the list of tools.
  const first = screen.getByTestId('allow-burst');
  await waitFor(() => expect(document.activeElement).toBe(first));
  await fireEvent.keyDown(first, { key: 'ArrowDown' });
  expect(document.activeElement).toBe(entry);
  await fireEvent.keyDown(entry, { key: 'Enter' });
  await fireEvent.click(entry, { detail: 0 });
  await fireEvent.keyDown(entry, { key: 'Enter', ctrlKey: true, repeat: true });
  expect(verdicts()).toEqual([]);
  expect(toasts()).toContain('press Ctrl and Enter');
  await fireEvent.keyDown(entry, { key: 'Enter', ctrlKey: true });
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'untilRestart' }]));
});

it('long arguments can be allowed once their end was on the screen, or all of them are', async () => {
  const height = vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockReturnValue(1_800);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(360);
  const one = await card({}, { id: 'zzzzzz' });
  await waitFor(() => expect(within(one).getByTestId('deny').getAttribute('aria-disabled')).toBe('false'));
  const allow = within(one).getByTestId<HTMLButtonElement>('allow-once');
  expect(within(one).getByTestId('below').textContent).toContain('80 more lines below.');
  expect(allow.disabled).toBe(true);
  const box = within(one).getByTestId('arguments');
  box.scrollTop = 1_440;
  await fireEvent.scroll(box);
  expect(within(one).queryByTestId('below')).toBeNull();
  expect(allow.disabled).toBe(false);
  // Back at the beginning it was seen all the same.
  box.scrollTop = 0;
  await fireEvent.scroll(box);
  expect(within(one).getByTestId('below').textContent).not.toContain('once you have seen the end');
  expect(allow.disabled).toBe(false);
  height.mockRestore();
});

/** What changes on the screen, and how: each of it moves what lies under a pointer. */
const moves: [string, () => void][] = [
  ['a note that the cards may be out of date', () => desk.fail('approvals', { message: 'locked' })],
  ['the count of equal calls', () => (open = [approval({ asked: 2 })])],
  ['what is different', () => (open = [approval({ difference: 'its arguments are not those that were denied' })])],
  ['an advice', () => (open = [approval({ deniedLately: 3 })])],
  ['what the tool can do', () => (open = [approval({ class: destructive })])],
  ['a client that waits no more', () => (open = [approval({ heldUntilMs: null })])],
];
it.each(moves)('%s moves the card, and for 400 ms nothing counts', async (_what, change) => {
  const one = await card();
  await listening(one);
  change();
  const allow = within(one).getByTestId('allow-once');
  await waitFor(() => expect(allow.getAttribute('aria-disabled')).toBe('true'), { timeout: 5_000, interval: 20 });
  await click(allow);
  expect(verdicts()).toEqual([]);
});

it('a card that becomes higher for any other reason moves what is below it, and nothing counts', async () => {
  const resized: (() => void)[] = [];
  class Observed {
    constructor(told: () => void) {
      resized.push(told);
    }
    observe = () => undefined;
    disconnect = () => undefined;
  }
  vi.stubGlobal('ResizeObserver', Observed);
  const one = await card();
  vi.unstubAllGlobals();
  await listening(one);
  resized.forEach((told) => told());
  await waitFor(() => expect(within(one).getByTestId('allow-once').getAttribute('aria-disabled')).toBe('true'));
  await click(within(one).getByTestId('allow-once'));
  expect(verdicts()).toEqual([]);
});

it('says what the tool can do, and marks what is other than in the call that was approved last', async () => {
  const one = await card({
    class: { ...destructive, corrected: true },
    arguments: '{"path":"/tmp/a","options":{"force":true},"a/b":[1,2]}',
    compared: {
      words: 'Other than in the call that was approved last in 3 places.',
      call: 'aaaaaa-0',
      changed: ['/options/force', '/a~1b/1'],
      gone: ['/dry_run'],
    },
  });
  expect(within(one).getByTestId('class').textContent).toBe('DestructiveCritical');
  expect(one.textContent).toContain('as you say');
  const marked = [...one.querySelectorAll<HTMLElement>('[data-marked]')].map((node) => node.dataset.marked);
  expect(marked).toEqual(['/options/force', '/a~1b/1']);
  expect(within(one).getByTestId('compared').textContent).toMatch(/in 3 places\.\s*Not in it any more: dry_run\./);
});

it('of a tool that its server did not list it says that its class is not known', async () => {
  const one = await card({
    compared: { words: 'No call of this tool was approved before.', call: null, changed: [], gone: [] },
  });
  expect(within(one).queryByTestId('class')).toBeNull();
  expect(within(one).getByTestId('no-class').textContent).toContain('class unknown');
  expect(within(one).getByTestId('compared').textContent).toContain('No call of this tool was approved before');
  expect(one.querySelector('[data-marked]')).toBeNull();
});
