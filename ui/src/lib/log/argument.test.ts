import { expect, it } from 'vitest';
import { folders, isPath, prefixes, stepInto } from './argument';

it.each([
  ['file:///etc/passwd', 'file:'],
  ['https://evil.example/x?y', 'https:'],
  ['/home/ada/x.txt', '/home'],
  ['drop table runs', 'drop'],
])('the first prefix offered for %s is %s', (value, first) => {
  expect(prefixes(value)[0]).toBe(first);
  for (const prefix of prefixes(value)) expect(value.startsWith(prefix)).toBe(true);
});

it('folders are those the path is in, never the path itself and never everything', () => {
  expect(folders('/home/ada/x.txt')).toEqual(['/home', '/home/ada']);
  expect(folders('C:\\Users\\ada\\x')).toEqual(['C:\\Users', 'C:\\Users\\ada']);
  expect(folders('~/x/y')).toEqual(['~/x']);
  expect(folders('https://a/b')).toEqual([]);
});

it.each([
  ['/etc', true],
  ['~/x', true],
  ['C:\\x', true],
  ['//host', false],
  ['relative/x', false],
  ['/a\n/b', false],
])('%j is a path: %s', (value, wanted) => expect(isPath(value)).toBe(wanted));

it('paths are written as policies write them', () => {
  expect(stepInto(stepInto('args', 'items'), 0)).toBe('args.items.0');
  expect(stepInto('args', 'name.with "dots"')).toBe('args["name.with \\"dots\\""]');
});
