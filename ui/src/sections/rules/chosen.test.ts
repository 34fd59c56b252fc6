import { describe, expect, it } from 'vitest';
import type { Need, RulesSummary } from '../../lib/backend';
import { toOpen } from './chosen';

const row = (server: string, more: Partial<RulesSummary> = {}): RulesSummary => ({
  server,
  isDefault: server === '_default',
  own: true,
  followers: 0,
  state: 'stopped',
  protection: 'enforcing',
  problem: null,
  tools: 0,
  denied: 0,
  asked: 0,
  hidden: 0,
  capped: 0,
  custom: 0,
  callsToday: 0,
  refusedToday: 0,
  lastCallMs: null,
  lastChangeMs: null,
  ...more,
});
const need: Need = { words: 'x', fix: { kind: 'openRules', server: 'b' }, server: 'b', serious: true };

describe('the rules that are opened', () => {
  const rows = [row('_default'), row('a', { lastCallMs: 5 }), row('b', { lastCallMs: 9 }), row('c')];
  it('are those that were looked at last, after a restart too', () => {
    expect(toOpen(rows, [need], 'c')).toBe('c');
    expect(toOpen(rows, [], '_default')).toBe('_default');
  });
  it('else those that need a person, else those that were used last', () => {
    expect(toOpen([row('_default'), row('b'), row('a', { lastCallMs: 5 })], [need], 'gone')).toBe('b');
    expect(toOpen([...rows, row('d', { protection: 'broken' })], [], null)).toBe('d');
    expect(toOpen(rows, [], null)).toBe('b');
  });
  it('are those of a server before the default policy, where nothing was used yet', () => {
    expect(toOpen([row('_default'), row('a')], [], null)).toBe('a');
    expect(toOpen([row('_default')], [], null)).toBe('_default');
    expect(toOpen([], [], null)).toBeNull();
  });
});
