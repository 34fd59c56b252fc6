import { describe, expect, it } from 'vitest';
import { formatHash, parseHash } from '../router.svelte';
import {
  askFailed,
  everything,
  isEverything,
  readFilters,
  refusals,
  toCallFilter,
  writeFilters,
  type Filters,
} from './filters';

const cases: Filters[] = [
  everything,
  { ...everything, text: 'a & b=c #?%', server: 'files/é', client: 'claude "ai"', tool: 'read file' },
  { ...everything, decisions: ['denied', 'would_deny'], last: '24h', only: 'changes' },
  { ...everything, failed: true, server: 'files' },
  { ...everything, byPerson: true, client: 'Cursor' },
  { ...everything, session: '0199', sinceMs: 1_731_000_000_000, untilMs: 1_731_000_600_000 },
];

describe('filters live in the address', () => {
  it.each(cases)('and come back from it: %j', (filters) => {
    const hash = formatHash('activity', null, writeFilters(filters));
    expect(readFilters(parseHash(hash).query)).toEqual(filters);
  });

  it('what makes no sense there is left out', () => {
    const query = new URLSearchParams('decision=denied,nonsense&last=9y&since=abc&until=-4&only=dreams&server=');
    expect(readFilters(query)).toEqual({ ...everything, decisions: ['denied'] });
  });

  it('keep what else the address says', () => {
    expect(writeFilters({ ...everything, text: 'x' }, new URLSearchParams('call=1&server=old')).toString()).toBe(
      'call=1&q=x',
    );
  });

  it('know when there are none', () => {
    expect(cases.map(isEverything)).toEqual(cases.map((_, index) => index === 0));
  });

  it('a moving range begins so long ago, to the minute', () => {
    const now = 1_731_000_012_345;
    const filter = toCallFilter({ ...everything, last: '1h', text: '  ' }, now);
    expect(filter.sinceMs! % 60_000).toBe(0);
    expect(now - filter.sinceMs!).toBeLessThan(3_660_000);
    expect(filter.text).toBeNull();
  });

  it('what failed is not looked for among what never got to its server', () => {
    const asked = askFailed({ ...everything, only: 'changes', decisions: ['allowed', 'denied', 'capped'] }, true);
    expect(asked).toMatchObject({ failed: true, only: null, decisions: ['allowed'] });
    expect(toCallFilter(asked, 0).failed).toBe(true);
    expect(askFailed(asked, false)).toMatchObject({ failed: false, decisions: ['allowed'] });
  });

  it('refusals are all that did not reach their server', () => {
    expect(refusals).not.toContain('allowed');
    expect(refusals).not.toContain('would_deny');
    expect(refusals).toHaveLength(10);
  });
});

describe('addresses', () => {
  it.each([
    ['', 'activity', null],
    ['#/', 'activity', null],
    ['#/rules/a%2Fb', 'rules', 'a/b'],
    ['#/servers', 'servers', null],
    ['#/nowhere', 'activity', null],
    ['#/rules/%E0%A4%A', 'rules', '%E0%A4%A'],
  ])('%s', (hash, section, rest) => {
    expect(parseHash(hash)).toMatchObject({ section, rest });
  });
  it('a name with a slash survives', () => {
    expect(parseHash(formatHash('rules', 'a/b?c#d')).rest).toBe('a/b?c#d');
  });
});
