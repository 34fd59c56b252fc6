// A yes for more than one call: the tools of a burst are ticked on the card, a conversation is offered where there is one, and
// what is let through says all that it reaches.
import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, it } from 'vitest';
import grantsFile from '../../../../crates/controls/src/approval/grants.rs?raw';
import type { ApprovalView, GrantView } from '../../lib/backend';
import { RecordedDesk } from '../../testing/desk';
import { press, show, toasts, type } from '../../testing/window';
import { burst } from './words';

let desk: RecordedDesk;
let open: ApprovalView[];
let grants: GrantView[];

const approval = (more: Partial<ApprovalView> = {}): ApprovalView => ({
  id: 'k3v9qa',
  call: 'aaaaaa-1',
  server: 'filesystem',
  client: 'cursor',
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

beforeEach(() => {
  desk = new RecordedDesk();
  open = [approval()];
  grants = [];
  desk.answer('approvals', () => ({ open, ended: [], grants }));
  desk.answer('burstTools', ['move_file', 'edit_file']);
  desk.answer('decide', () => {
    open = [];
    return { done: { words: 'Decided', undo: null, server: null, version: null, endsMs: null }, tell: null };
  });
});

const click = (button: HTMLElement) => fireEvent.click(button, { detail: 1 });
const verdicts = () => desk.asked('decide').map(({ verdict }) => verdict);
const button = (testid: string) => screen.getByTestId<HTMLButtonElement>(testid);
const listens = (testid: string) =>
  waitFor(() => expect(screen.getByTestId(testid).getAttribute('aria-disabled')).toBe('false'));
const boxes = () => screen.queryAllByTestId<HTMLInputElement>('burst-tool');
const names = () => boxes().map((box) => box.closest('li')!.textContent.trim());
const box = (tool: string) => boxes()[names().indexOf(tool)]!;
const means = () => screen.getByTestId('burst-means').textContent.replaceAll(/\s+/g, ' ').trim();

async function menu(): Promise<void> {
  show(desk, '#/approvals');
  await screen.findByTestId('approval');
  await listens('allow-once');
  await press('allow-more');
}
/** The list of tools, once they are there and the card listens again. */
async function bursting(): Promise<HTMLElement> {
  await menu();
  await press('allow-burst');
  const panel = await screen.findByTestId('burst');
  await waitFor(() => expect(button('burst-allow').disabled).toBe(false));
  await listens('burst-allow');
  return panel;
}

it('choosing this burst says no yes: it asks for which tools, with none ticked but the one that was called', async () => {
  await bursting();
  expect(verdicts()).toEqual([]);
  expect(desk.asked('burstTools')).toEqual([{ id: 'k3v9qa' }]);
  const called = screen.getByTestId<HTMLInputElement>('burst-called');
  expect([called.checked, called.disabled]).toEqual([true, true]);
  expect(called.closest('li')!.textContent).toContain('write_file');
  expect(names()).toEqual(['move_file', 'edit_file']);
  expect(boxes().map((one) => one.checked)).toEqual([false, false]);
  expect(screen.queryByTestId('burst-find')).toBeNull();
  await click(button('burst-allow'));
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'burst', tools: [] }]));
});

it('the yes is for the tools that are ticked, and says so before it is given', async () => {
  await bursting();
  expect(means()).toContain('the next calls of write_file by Cursor, whatever their arguments: 20 calls in all');
  for (const tool of ['edit_file', 'move_file']) await fireEvent.click(box(tool));
  expect(means()).toContain('the next calls of write_file, move_file and edit_file by Cursor');
  expect(button('burst-allow').textContent).toBe('Allow this burst of 3 tools');
  await fireEvent.click(box('move_file'));
  expect(means()).toContain('the next calls of write_file and edit_file by Cursor');
  await click(button('burst-allow'));
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'burst', tools: ['edit_file'] }]));
});

it('says of a burst what the gate makes of it', () => {
  const rust = grantsFile.replaceAll(/\s+/g, ' ');
  expect(rust).toContain(`pub const MOST_TOOLS: usize = ${burst.most};`);
  expect(rust).toContain('GrantScope::Burst => 20,');
  expect(rust).toContain('GrantScope::Burst => Duration::from_mins(1),');
  expect(rust).toContain('GrantScope::Burst => Duration::from_mins(30),');
});

it('for 400 ms after the tools have come nothing counts, neither a tick nor a yes', async () => {
  let come: (tools: string[]) => void = () => undefined;
  desk.answer('burstTools', () => new Promise<string[]>((resolve) => (come = resolve)));
  await menu();
  await press('allow-burst');
  await screen.findByTestId('burst');
  expect(button('burst-allow').disabled).toBe(true);
  await listens('burst-allow');
  come(['move_file']);
  await waitFor(() => expect(boxes()).toHaveLength(1));
  expect(button('burst-allow').getAttribute('aria-disabled')).toBe('true');
  await fireEvent.click(box('move_file'));
  await click(button('burst-allow'));
  await fireEvent.keyDown(button('burst-allow'), { key: 'Enter', ctrlKey: true });
  expect(verdicts()).toEqual([]);
  expect(box('move_file').checked).toBe(false);
  await listens('burst-allow');
  await fireEvent.click(box('move_file'));
  await click(button('burst-allow'));
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'burst', tools: ['move_file'] }]));
});

it('the list stays, and listens, while the card is looked at again each second', async () => {
  await bursting();
  const asked = desk.asked('approvals').length;
  await fireEvent.click(box('move_file'));
  await waitFor(() => expect(desk.asked('approvals').length).toBeGreaterThan(asked + 1), { timeout: 10_000 });
  expect(desk.asked('burstTools')).toHaveLength(1);
  expect(box('move_file').checked).toBe(true);
  expect(button('burst-allow').getAttribute('aria-disabled')).toBe('false');
});

it('by key a yes to a burst takes two keys, and Escape puts the list away', async () => {
  const panel = await bursting();
  expect(document.activeElement).toBe(panel);
  const allow = button('burst-allow');
  for (const key of ['Enter', ' ']) await fireEvent.keyDown(allow, { key });
  await fireEvent.click(allow, { detail: 0 });
  await fireEvent.keyDown(allow, { key: 'Enter', ctrlKey: true, repeat: true });
  expect(toasts()).toContain('press Ctrl and Enter');
  await fireEvent.keyDown(allow, { key: 'Escape' });
  await waitFor(() => expect(screen.queryByTestId('burst')).toBeNull());
  expect(document.activeElement).toBe(button('allow-more'));
  expect(verdicts()).toEqual([]);
  await listens('allow-once');
  await press('allow-more');
  await press('allow-burst');
  await waitFor(() => expect(button('burst-allow').disabled).toBe(false));
  await listens('burst-allow');
  await fireEvent.keyDown(button('burst-allow'), { key: 'Enter', ctrlKey: true });
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'burst', tools: [] }]));
});

it('a burst cannot be allowed while it is not all shown, or while what masking hides is not ticked', async () => {
  open = [approval({ masked: 1 })];
  show(desk, '#/approvals');
  await screen.findByTestId('approval');
  await listens('blind');
  await click(screen.getByTestId('blind'));
  await press('allow-more');
  await press('allow-burst');
  await waitFor(() => expect(button('burst-allow').disabled).toBe(false));
  await listens('burst-allow');
  await click(screen.getByTestId('blind'));
  expect(button('burst-allow').disabled).toBe(true);
  // A script's event reaches a button that is off.
  await fireEvent.keyDown(button('burst-allow'), { key: 'Enter', ctrlKey: true });
  await click(screen.getByTestId('blind'));
  expect(button('burst-allow').disabled).toBe(false);
  open = [approval({ masked: 1, complete: false })];
  await waitFor(() => expect(button('burst-allow').disabled).toBe(true), { timeout: 5_000 });
  await click(button('burst-allow'));
  expect(verdicts()).toEqual([]);
});

it('more than 8 tools are found by their name, and what is ticked stays in sight', async () => {
  desk.answer('burstTools', ['move_file', 'Edit_File', 'a', 'b', 'c', 'd', 'e', 'f']);
  await bursting();
  await fireEvent.click(box('move_file'));
  await type('burst-find', 'edit');
  expect(names()).toEqual(['move_file', 'Edit_File']);
  // Something else lies under the pointer now.
  expect(button('burst-allow').getAttribute('aria-disabled')).toBe('true');
  await type('burst-find', 'nothing like it');
  expect(names()).toEqual(['move_file']);
  expect(screen.getByTestId('burst').textContent).toContain('No tool is called so.');
  await fireEvent.keyDown(screen.getByTestId('burst-find'), { key: 'Escape' });
  expect(names()).toHaveLength(8);
  expect(box('move_file').checked).toBe(true);
});

it('8 tools are seen without a search', async () => {
  desk.answer('burstTools', ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  await bursting();
  expect(screen.queryByTestId('burst-find')).toBeNull();
});

it('as many tools can be ticked as a burst reaches, and no more', async () => {
  desk.answer(
    'burstTools',
    Array.from({ length: 150 }, (_, nth) => `tool_${nth}`),
  );
  await bursting();
  expect(names()).toHaveLength(100);
  expect(screen.getByTestId('burst').textContent).toContain('50 more tools: find them by name.');
  for (const one of boxes().slice(0, 50)) await fireEvent.click(one);
  expect(screen.getByTestId('burst-full').textContent).toContain('50 tools can be ticked');
  expect(boxes().filter((one) => one.disabled)).toHaveLength(50);
  await fireEvent.click(box('tool_0'));
  expect(screen.queryByTestId('burst-full')).toBeNull();
  expect(boxes().some((one) => one.disabled)).toBe(false);
});

it('tools that cannot be read leave the burst of the one that was called', async () => {
  desk.fail('burstTools', { message: 'the list is locked' });
  await bursting();
  expect(screen.getByTestId('burst').textContent).toContain('The other tools could not be read: the list is locked');
  await click(button('burst-allow'));
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'burst', tools: [] }]));
});

it('where no other tool is asked about, it says so', async () => {
  desk.answer('burstTools', []);
  await bursting();
  expect(screen.getByTestId('burst-alone').textContent).toContain('asked about no other tool');
});

it('names of tools that hide something are shown with what they hide', async () => {
  desk.answer('burstTools', ['ok\u202Egnp']);
  const panel = await bursting();
  await fireEvent.click(boxes()[0]!);
  expect(panel.textContent).not.toContain('\u202E');
  expect(within(panel).getAllByText('U+202E')).toHaveLength(2);
});

it('this conversation is offered where the client tells one, and until it restarts where it does not', async () => {
  await menu();
  expect((await screen.findByTestId('allow-restart')).textContent).toMatch(/until the client restarts.*all chats/);
  expect(screen.queryByTestId('allow-conversation')).toBeNull();
  expect(screen.getByTestId('means').textContent).toContain('until the client restarts');
  await fireEvent.keyDown(screen.getByTestId('allow-restart'), { key: 'Escape' });
  open = [approval({ id: 'told11', inConversation: true })];
  await waitFor(() => expect(screen.getByTestId('approval').textContent).toContain('told11'), { timeout: 5_000 });
  expect(screen.getByTestId('means').textContent).toContain('this conversation');
  await listens('allow-once');
  await press('allow-more');
  const entry = await screen.findByTestId('allow-conversation');
  expect(screen.queryByTestId('allow-restart')).toBeNull();
  await fireEvent.click(entry, { detail: 0 });
  expect(verdicts()).toEqual([]);
  await click(entry);
  await waitFor(() => expect(verdicts()).toEqual([{ kind: 'conversation' }]));
});

it('what is let through says all of its tools, and that it is for a conversation', async () => {
  const grant = { server: 'filesystem', client: 'cursor', tool: 'write_file', also: [], callsLeft: 9 };
  const endsMs = Date.now() + 60_000;
  grants = [
    { ...grant, id: 'a', endsMs, also: ['move_file', 'edit_file'], words: 'until nothing comes for a minute' },
    { ...grant, id: 'b', endsMs, words: 'for the rest of its conversation' },
  ];
  show(desk, '#/approvals');
  const [burstLine, talk] = (await screen.findAllByTestId('grant')).map((one) =>
    one.textContent.replaceAll(/\s+/g, ' ').trim(),
  );
  expect(burstLine).toContain('write_file, move_file and edit_file of filesystem, for Cursor until nothing comes');
  expect(talk).toContain('write_file of filesystem, for Cursor for the rest of its conversation');
});
