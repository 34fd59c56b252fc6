// Rules drawn from use in the whole window, on the in-memory backend.
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import Root from '../../App.svelte';
import { App } from '../../lib/app.svelte';
import { fakeBackend, type FakeBackend } from '../../lib/backend/fake';
import { grouped } from './suggestion';

vi.setConfig({ testTimeout: 60_000 });
// A busy machine needs its time.
configure({ asyncUtilTimeout: 20_000 });

let fake: FakeBackend;

async function open(server: string): Promise<HTMLElement> {
  history.replaceState(null, '', `#/rules/${server}`);
  render(Root, { props: { app: new App(fake) } });
  return screen.findByTestId('suggest');
}

beforeEach(() => {
  localStorage.clear();
  Element.prototype.scrollIntoView ??= () => undefined;
  fake = fakeBackend({ calls: 60, rate: 0 });
});
afterEach(() => {
  cleanup();
  fake.world.stop();
});

const text = async () => (await fake.rules('playwright')).text;

it('shows each proposed rule with its count and its effect, and writes nothing before Apply', async () => {
  const before = await text();
  const section = await open('playwright');
  await fireEvent.click(within(section).getByTestId('suggest-ask'));
  const panel = await within(section).findByTestId('suggest-panel');
  expect(within(panel).getByTestId('suggest-rules').textContent).toMatch(/allowed\s+\d+ calls/);
  expect(within(panel).getByTestId('effect').textContent).toMatch(/today's rules|decided differently/);
  expect(await text()).toBe(before);
  await fireEvent.click(within(panel).getByTestId('suggest-discard'));
  expect(within(section).queryByTestId('suggest-panel')).toBeNull();
  expect(await text()).toBe(before);
});

it('applies by the road of every other edit, with a question where it loosens', async () => {
  const before = await text();
  const section = await open('playwright');
  await fireEvent.click(within(section).getByTestId('suggest-ask'));
  await fireEvent.click(await within(section).findByTestId('suggest-apply'));
  await waitFor(async () => {
    const yes = screen.queryByTestId('question-yes');
    if (yes) await fireEvent.click(yes);
    expect(await text()).not.toBe(before);
  });
  await waitFor(() => expect(within(section).queryByTestId('suggest-panel')).toBeNull());
});

it('says so when there is too little to go on', async () => {
  const suggest = fake.suggestRules;
  fake.suggestRules = async (server, days) => ({
    ...(await suggest(server, days)),
    calls: 0,
    enough: false,
    words: [],
    proposal: null,
    effect: null,
  });
  const section = await open('playwright');
  await fireEvent.click(within(section).getByTestId('suggest-ask'));
  expect((await within(section).findByTestId('suggest-empty')).textContent).toContain('Too little to go on');
  expect(within(section).queryByTestId('suggest-apply')).toBeNull();
});

it('a draft from few calls can be read, and carries its warning', async () => {
  const suggest = fake.suggestRules;
  fake.suggestRules = async (server, days) => ({
    ...(await suggest(server, days)),
    enough: false,
    words: ['Drafted from 3 calls.', 'Too little to go on: 3 calls on 1 day.'],
  });
  const section = await open('playwright');
  await fireEvent.click(within(section).getByTestId('suggest-ask'));
  expect((await within(section).findByTestId('suggest-little')).textContent).toContain('3 calls on 1 day');
});

it('an error is told and asked again', async () => {
  const suggest = fake.suggestRules;
  fake.suggestRules = () => Promise.reject(new Error('the history cannot be read'));
  const section = await open('playwright');
  await fireEvent.click(within(section).getByTestId('suggest-ask'));
  expect((await within(section).findByRole('alert')).textContent).toContain('cannot be read');
  fake.suggestRules = suggest;
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
