// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { days, fullness, maskNames, whole } from './check';

describe('numbers', () => {
  it.each([
    ['90', 90],
    [' 1,000 ', 1000],
    ['3650', 3650],
  ])('%s is taken', (text, value) => {
    expect(whole(text, days)).toEqual({ value });
  });
  it.each(['', '0', '-1', '1.5', '1e3', '3651', 'ten', '0x10'])('%s is refused with the bounds', (text) => {
    expect(whole(text, days)).toEqual({ problem: 'A whole number from 1 to 3,650.' });
  });
});

describe('names to mask', () => {
  it('are taken one a line or with commas, each once', () => {
    expect(maskNames('iban\n Card , card\n\n')).toEqual({ names: ['iban', 'Card'] });
    expect(maskNames('')).toEqual({ names: [] });
  });
  it('cannot hide characters', () => {
    expect(maskNames('pass\u200bword')).toHaveProperty('problem');
    expect(maskNames('x'.repeat(101))).toHaveProperty('problem');
  });
});

it('the ceiling is full at its size and never fuller', () => {
  expect(fullness(0, 100)).toBe(0);
  expect(fullness(50 * 1024 * 1024, 100)).toBe(0.5);
  expect(fullness(500 * 1024 * 1024, 100)).toBe(1);
});
