// @vitest-environment node
import { expect, it } from 'vitest';
import { merged, pathsOf } from './paths';

it('outer arguments come first, odd names are quoted', () => {
  expect(pathsOf('{"url":"x","options":{"a.b":1,"deep":{"er":[{"x":1}]}},"items":[1,2]}')).toEqual([
    'args.url',
    'args.options',
    'args.items',
    'args.options["a.b"]',
    'args.options.deep',
    'args.items.0',
    'args.options.deep.er',
    'args.options.deep.er.0',
  ]);
});

it('what is no JSON, or not an object, has no paths', () => {
  for (const text of ['{"cut":', 'null', '3', '']) expect(pathsOf(text)).toEqual([]);
});

it('a thousand arguments do not make a thousand suggestions', () => {
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`a${i}`, i])));
  expect(pathsOf(wide).length).toBe(40);
  expect(
    merged([
      ['a', 'b'],
      ['b', 'c'],
    ]),
  ).toEqual(['a', 'b', 'c']);
});
