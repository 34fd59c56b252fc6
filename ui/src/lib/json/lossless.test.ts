import { describe, expect, it } from 'vitest';
import { Random } from '../../testing/random';
import { duplicates, JsonError, parseJson, printJson } from './lossless';

describe('JSON is read as it was written', () => {
  it.each(['18446744073709551615', '0.10', '1e400', '-0', '1E+2', '9007199254740993', '3.141592653589793238462643'])(
    'keeps the digits of %s',
    (digits) => {
      expect(parseJson(digits)).toEqual({ kind: 'number', digits });
      expect(printJson(parseJson(`[${digits}]`), 0)).toBe(`[${digits}]`);
    },
  );

  it('keeps names that occur twice, in order', () => {
    const json = parseJson('{"a":1,"b":2,"a":3}');
    expect(printJson(json, 0)).toBe('{"a":1,"b":2,"a":3}');
    expect(json.kind === 'object' && duplicates(json.members)).toEqual(new Set(['a']));
  });

  it('keeps names that objects have by birth', () => {
    expect(printJson(parseJson('{"__proto__":1,"constructor":2}'), 0)).toBe('{"__proto__":1,"constructor":2}');
  });

  it('reads escapes, and halves of characters', () => {
    expect(parseJson('"\\u0041\\n\\"\\\\\\/\\ud800"')).toEqual({ kind: 'string', value: 'A\n"\\/\ud800' });
  });

  it.each([
    '',
    '{',
    '[1,]',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    "'a'",
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    '"',
    'true false',
    '[1 2]',
    'nul',
  ])('refuses %j', (text) => expect(() => parseJson(text)).toThrow(JsonError));

  it('refuses to dive for ever', () => {
    expect(() => parseJson('['.repeat(100_000))).toThrow(/nested too deeply/);
    expect(() => parseJson(`${'['.repeat(400)}${']'.repeat(400)}`)).not.toThrow();
  });

  it('agrees with the platform on random values, and prints what it read', () => {
    const random = new Random(11);
    const make = (depth: number): unknown => {
      const roll = random.int(depth > 3 ? 4 : 6);
      if (roll === 0) return random.int(100_000) / 100;
      if (roll === 1) return random.next() < 0.5;
      if (roll === 2) return null;
      if (roll === 3) return String.fromCharCode(...Array.from({ length: random.int(6) }, () => random.int(0x2fff)));
      if (roll === 4) return Array.from({ length: random.int(4) }, () => make(depth + 1));
      return Object.fromEntries(
        Array.from({ length: random.int(4) }, (_, at) => [`k${at}${random.int(9)}`, make(depth + 1)]),
      );
    };
    for (let round = 0; round < 300; round += 1) {
      const text = JSON.stringify(make(0), null, random.int(3));
      const json = parseJson(text);
      expect(JSON.parse(printJson(json))).toEqual(JSON.parse(text));
      expect(printJson(parseJson(printJson(json)))).toBe(printJson(json));
    }
  });
});
