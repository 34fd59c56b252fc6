import { expect, it } from 'vitest';
import { ago, countdown, duration, size, span } from './format';

it.each([
  [840, '840 µs'],
  [1_500, '1.5 ms'],
  [12_345, '12 ms'],
  [1_400_000, '1.4 s'],
  [200_000_000, '3 min 20 s'],
])('%i µs is %s', (us, words) => expect(duration(us)).toBe(words));

it.each([
  [59_600, '1 min'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
  [-5, '0.0 s'],
])('%i ms is %s', (ms, words) => expect(span(ms)).toBe(words));

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [999_900, '1.0 MB'],
  [123_456_789, '123 MB'],
])('%i bytes are %s', (bytes, words) => expect(size(bytes)).toBe(words));

it('counts down to nothing and not below', () => {
  expect([898_000, 3_850_000, 0, -4].map(countdown)).toEqual(['14:58', '1:04:10', '00:00', '00:00']);
});

it('says how long ago', () => {
  expect([1_000, 30_000, 300_000, 8_000_000, 200_000_000].map((ms) => ago(0, ms))).toEqual([
    'just now',
    '30 s ago',
    '5 min ago',
    '2 h ago',
    '2 d ago',
  ]);
});
