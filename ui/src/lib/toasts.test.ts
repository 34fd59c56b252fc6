// How long a note stays, and which one makes room.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Toasts } from './toasts.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const undo = () => ({ token: 't', untilMs: Date.now() + 10_000 });

describe('toasts', () => {
  it('stay while something is typed, also when the pointer leaves', () => {
    const toasts = new Toasts();
    const toast = toasts.say('Blocked', { undo: undo(), reason: true });
    toasts.hold(toast.id, 'pointer');
    toasts.hold(toast.id, 'text');
    toasts.release(toast.id, 'pointer');
    vi.advanceTimersByTime(120_000);
    expect(toasts.list).toHaveLength(1);
    toasts.release(toast.id, 'text');
    vi.advanceTimersByTime(5_000);
    expect(toasts.list).toHaveLength(0);
  });

  it('make room for a fourth without taking away an undo, nor what is typed', () => {
    const toasts = new Toasts();
    toasts.say('first', { undo: undo() });
    toasts.say('second');
    toasts.say('third', { undo: undo() });
    toasts.say('fourth');
    expect(toasts.list.map((toast) => toast.words)).toEqual(['first', 'third', 'fourth']);
    toasts.hold(toasts.list[0]!.id, 'text');
    toasts.say('fifth', { undo: undo() });
    toasts.say('sixth');
    expect(toasts.list.map((toast) => toast.words)).toEqual(['first', 'fifth', 'sixth']);
  });
});
