// @vitest-environment node
import { expect, it } from 'vitest';
import { parse, set, unified } from './jsonc';

const text = `{
  "version": "1", // first
  "default": "allow",
  "tools": {
    // why
    "a": {},
    "b": { "action": "deny" } // last
  }
}
`;

it('sets a member in place and keeps comments', () => {
  const next = set(text, ['tools', 'a'], { action: 'deny' });
  expect(next).toBe(text.replace('"a": {}', '"a": { "action": "deny" }'));
});

it('adds a member behind the last one', () => {
  const next = set(text, ['tools', 'c'], {});
  expect(next).toContain('"b": { "action": "deny" }, // last\n    "c": {}\n  }');
  expect(parse(next)).toEqual({ version: '1', default: 'allow', tools: { a: {}, b: { action: 'deny' }, c: {} } });
});

it('makes what is missing on the way', () => {
  expect(parse(set(text, ['clients', 'cursor', 'tools', 'a'], { action: 'deny' }))).toHaveProperty(
    'clients.cursor.tools.a.action',
    'deny',
  );
  expect(parse(set('{}', ['tools', 'x'], {}))).toEqual({ tools: { x: {} } });
});

it('a diff has the changed lines and what is around them', () => {
  const diff = unified(text, set(text, ['tools', 'a'], { action: 'deny' }));
  expect(diff.split('\n')).toEqual([
    '--- now',
    '+++ then',
    '@@ -4,5 +4,5 @@',
    '   "tools": {',
    '     // why',
    '-    "a": {},',
    '+    "a": { "action": "deny" },',
    '     "b": { "action": "deny" } // last',
    '   }',
    '',
  ]);
  expect(unified(text, text)).toBe('');
});
