import { expect, it } from 'vitest';
import type { ToolRule } from '../../lib/backend';
import { inOrder, pressed, sortOf, type Order } from './order';

const rule = (name: string, calls: number, hits: number) => ({ name, calls, hits }) as ToolRule;
const rules = [rule('read_*', 9, 1), rule('Write', 2, 7), rule('delete', 5, 0), rule('list', 5, 3)];
const names = (order: Order | null) => inOrder(rules, order).map(({ name }) => name);

it('a heading sorts, sorts the other way, and lets the order of the gate be again', () => {
  const once = pressed(null, 'calls');
  expect(names(once)).toEqual(['read_*', 'delete', 'list', 'Write']);
  const twice = pressed(once, 'calls');
  expect(names(twice)).toEqual(['Write', 'delete', 'list', 'read_*']);
  expect(names(pressed(twice, 'calls'))).toEqual(rules.map(({ name }) => name));
  expect([sortOf(once, 'calls'), sortOf(twice, 'calls'), sortOf(once, 'name')]).toEqual([
    'descending',
    'ascending',
    'none',
  ]);
});

it('names begin with a, whatever their case; refusals with the most', () => {
  expect(names(pressed(null, 'name'))).toEqual(['delete', 'list', 'read_*', 'Write']);
  expect(names(pressed(null, 'refused'))).toEqual(['Write', 'list', 'read_*', 'delete']);
});
