import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { App } from '../../lib/app.svelte';
import type { CallLine, CapAdvice } from '../../lib/backend/bindings';
import { allowMenu, capMenu } from './actions';

const call = { server: 'files', tool: 'read_file', client: 'claude-ai' } as CallLine;
const advice: CapAdvice = {
  peakPerMinute: 22,
  words: 'your peak is 22/min',
  choices: [{ max: 30, window: 'minute', words: '30/min', advised: true }],
  present: null,
};

function world(capAdvice: () => Promise<CapAdvice>) {
  const show = vi.fn();
  const anchor = document.body.appendChild(document.createElement('button'));
  return { app: { backend: { capAdvice }, menus: { show } } as unknown as App, show, anchor };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('the cap menu opens once, with the advice in it', async () => {
  const { app, show, anchor } = world(async () => advice);
  await capMenu(app, call, anchor);
  expect(show).toHaveBeenCalledTimes(1);
  expect(JSON.stringify(show.mock.calls[0]![2])).toContain('your peak is 22/min: cap at 30/min');
});

test('advice that comes late never moves a choice under the pointer', async () => {
  let give: (advice: CapAdvice) => void = () => {};
  const { app, show, anchor } = world(() => new Promise((resolve) => (give = resolve)));
  const opened = capMenu(app, call, anchor);
  await vi.advanceTimersByTimeAsync(1_000);
  await opened;
  give(advice);
  await vi.runAllTimersAsync();
  expect(show).toHaveBeenCalledTimes(1);
  const shown = JSON.stringify(show.mock.calls[0]![2]);
  expect(shown).toContain('5/min');
  expect(shown).not.toContain('your peak');
});

test('advice that came late is in the menu when it is opened again, and not asked for once more', async () => {
  let give: (advice: CapAdvice) => void = () => {};
  const ask = vi.fn(() => new Promise<CapAdvice>((resolve) => (give = resolve)));
  const { app, show, anchor } = world(ask);
  const opened = capMenu(app, call, anchor);
  await vi.advanceTimersByTimeAsync(1_000);
  await opened;
  give(advice);
  await vi.advanceTimersByTimeAsync(0);
  expect(anchor.dataset.advice).toBe('here');
  await capMenu(app, call, anchor);
  expect(JSON.stringify(show.mock.lastCall![2])).toContain('your peak is 22/min: cap at 30/min');
  expect(ask).toHaveBeenCalledTimes(1);

  // It was good for that menu alone.
  void capMenu(app, call, anchor);
  expect(ask).toHaveBeenCalledTimes(2);
  await vi.runAllTimersAsync();
});

test('no menu opens for a row that is gone', async () => {
  const { app, show, anchor } = world(async () => advice);
  anchor.remove();
  await capMenu(app, call, anchor);
  expect(show).not.toHaveBeenCalled();
});

test('a call whose name would count as a pattern is not offered to be allowed by its name', () => {
  const { app, show, anchor } = world(async () => advice);
  const offered = (tool: string) => {
    allowMenu(app, { ...call, tool, decision: 'denied', repeatable: true }, anchor, null);
    return JSON.stringify(show.mock.lastCall![2]);
  };
  expect(offered('read_file')).toMatch(/allow-for.*"allow"/);
  for (const tool of ['*e*', '?????_file']) {
    expect(offered(tool)).toContain('allow-next');
    expect(offered(tool)).not.toMatch(/allow-for|"allow"/);
  }
});
