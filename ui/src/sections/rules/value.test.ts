// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { fromJson, fromScalar, operators, toJson, toScalar } from './value';

describe('a value is typed without JSON', () => {
  it.each([
    ['file:', '"file:"'],
    ['100', '100'],
    ['-1.5e3', '-1.5e3'],
    ['9007199254740993', '9007199254740993'],
    ['007', '"007"'],
    ['true', 'true'],
    ['null', 'null'],
    ['"true"', '"true"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['~/a b', '"~/a b"'],
  ])('%s is written as %s', (typed, json) => {
    expect(toScalar(typed)).toBe(json);
    expect(fromScalar(json)).toBe(typed);
  });

  it('lists and folders are one entry a line', () => {
    expect(toJson('in', 'a\n 2 \n\ntrue')).toBe('["a", 2, true]');
    expect(fromJson('in', '["a", 2, true, "x, y", "5"]')).toBe('a\n2\ntrue\nx, y\n"5"');
    expect(toJson('inside', '~/projects')).toBe('"~/projects"');
    expect(toJson('inside', '~/projects\n/tmp/scratch')).toBe('["~/projects", "/tmp/scratch"]');
    expect(fromJson('inside', '["~/projects", "/tmp/[x]"]')).toBe('~/projects\n/tmp/[x]');
  });

  it('a pattern is text, also when it looks like a number', () => {
    expect(toJson('regex', '42')).toBe('"42"');
    expect(fromJson('regex', '"^\\\\d+$"')).toBe('^\\d+$');
  });

  it('what came from a policy goes back unchanged', () => {
    const kept: [string, string][] = [
      ['eq', '"42"'],
      ['eq', '42'],
      ['eq', '"a\\nb"'],
      ['eq', '"\\"quoted\\""'],
      ['in', '["a", "b, c", "null", null, 9007199254740993]'],
      ['not_inside', '["~/.ssh", "~/.gnupg"]'],
      ['regex', '"^file:"'],
      ['exists', 'false'],
    ];
    for (const [op, json] of kept) expect(toJson(op, fromJson(op, json)), `${op} ${json}`).toBe(json);
  });

  it('a value that is missing is said to be missing', () => {
    for (const { op, shape } of operators) {
      expect(toJson(op, ' '), op).toBe(shape === 'existence' ? 'true' : shape === 'text' ? '" "' : null);
      expect(toJson(op, ''), op).toBe(shape === 'existence' ? 'true' : null);
    }
  });
});
