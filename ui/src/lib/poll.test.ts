// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { poll } from './poll';

let visible: DocumentVisibilityState = 'visible';

beforeEach(() => {
  vi.useFakeTimers();
  visible = 'visible';
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => visible);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Questions that are answered when a test says so. */
function questions() {
  const open: { resolve: (found: string) => void; reject: (why: Error) => void }[] = [];
  return { open, ask: () => new Promise<string>((resolve, reject) => open.push({ resolve, reject })) };
}

function see(state: DocumentVisibilityState) {
  visible = state;
  document.dispatchEvent(new Event('visibilitychange'));
}

it('asks at once and again, but not while a question is open', async () => {
  const { open, ask } = questions();
  const got: string[] = [];
  const end = poll(ask, 1_000, (found) => got.push(found));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(open).toHaveLength(1);
  open[0]!.resolve('first');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(open).toHaveLength(2);
  expect(got).toEqual(['first']);
  end();
});

it('an answer that comes after the end, or after a newer one, is dropped', async () => {
  const { open, ask } = questions();
  const got: string[] = [];
  const end = poll(ask, null, (found) => got.push(found));
  void end.now();
  open[1]!.resolve('newer');
  await vi.advanceTimersByTimeAsync(0);
  open[0]!.resolve('older');
  await vi.advanceTimersByTimeAsync(0);
  expect(got).toEqual(['newer']);
  void end.now();
  end();
  open[2]!.resolve('late');
  await vi.advanceTimersByTimeAsync(0);
  expect(got).toEqual(['newer']);
});

it('an error is told until the next answer', async () => {
  const { open, ask } = questions();
  const told: (string | null)[] = [];
  const end = poll(
    ask,
    1_000,
    () => undefined,
    (error) => told.push(error?.message ?? null),
  );
  open[0]!.reject(new Error('no disk'));
  await vi.advanceTimersByTimeAsync(1_000);
  open[1]!.resolve('well');
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toEqual(['no disk', null]);
  end();
});

it('a hidden page asks nothing, and one that is seen again asks at once', async () => {
  const ask = vi.fn(async () => 'x');
  const end = poll(ask, 1_000);
  await vi.advanceTimersByTimeAsync(0);
  see('hidden');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ask).toHaveBeenCalledTimes(1);
  see('visible');
  expect(ask).toHaveBeenCalledTimes(2);
  end();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ask).toHaveBeenCalledTimes(2);
});
