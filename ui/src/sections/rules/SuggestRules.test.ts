// Rules drawn from use in the whole window.
import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, it } from 'vitest';
import { RecordedDesk } from '../../testing/desk';
import { press, show } from '../../testing/window';
import { grouped } from './suggestion';

let desk: RecordedDesk;
beforeEach(() => (desk = new RecordedDesk()));

async function ask(): Promise<HTMLElement> {
  show(desk, '#/rules/playwright');
  const section = await screen.findByTestId('suggest');
  await press('suggest-ask', section);
  return section;
}

it('shows each proposed rule with its count and its effect, and writes nothing before Apply', async () => {
  const section = await ask();
  const panel = await within(section).findByTestId('suggest-panel');
  expect(within(panel).getByTestId('suggest-rules').textContent).toMatch(/allowed\s+\d+ calls/);
  expect(within(panel).getByTestId('effect').textContent).toMatch(/today's rules|decided differently/);
  await press('suggest-discard', panel);
  expect(within(section).queryByTestId('suggest-panel')).toBeNull();
  expect(desk.asked('savePolicy')).toEqual([]);
});

it('applies by the road of every other edit', async () => {
  const section = await ask();
  await press('suggest-apply', section);
  const { text } = desk.recorded('suggestRules').proposal!;
  await waitFor(() => expect(desk.asked('savePolicy')).toMatchObject([{ server: 'playwright', text }]));
  await waitFor(() => expect(within(section).queryByTestId('suggest-panel')).toBeNull());
});

it('says so when there is too little to go on', async () => {
  const recorded = desk.recorded('suggestRules');
  desk.answer('suggestRules', { ...recorded, calls: 0, enough: false, words: [], proposal: null, effect: null });
  const section = await ask();
  expect((await within(section).findByTestId('suggest-empty')).textContent).toContain('Too little to go on');
  expect(within(section).queryByTestId('suggest-apply')).toBeNull();
});

it('a draft from few calls can be read, and carries its warning', async () => {
  const words = ['Drafted from 3 calls.', 'Too little to go on: 3 calls on 1 day.'];
  desk.answer('suggestRules', { ...desk.recorded('suggestRules'), enough: false, words });
  const section = await ask();
  expect((await within(section).findByTestId('suggest-little')).textContent).toContain('3 calls on 1 day');
});

it('an error is told and asked again', async () => {
  desk.fail('suggestRules', { message: 'the history cannot be read' });
  const section = await ask();
  expect((await within(section).findByRole('alert')).textContent).toContain('cannot be read');
  desk.mend('suggestRules');
  await fireEvent.click(within(section).getByText('Try again'));
  await within(section).findByTestId('suggest-panel');
});

it('conditions and caps stand with their tool', () => {
  const rule = (tool: string | null, words: string) => ({ tool, words, why: '' });
  const found = grouped([
    rule('a', 'allowed'),
    rule('a', 'at most 2 a minute'),
    rule('b', 'allowed'),
    rule('c', 'hidden'),
    rule(null, 'tools that are not listed are refused'),
  ]);
  expect(found.tools.map((line) => [line.tool, line.more.length])).toEqual([
    ['a', 1],
    ['b', 0],
  ]);
  expect([found.hidden.length, found.rest.length]).toEqual([1, 1]);
});
