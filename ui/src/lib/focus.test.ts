import { afterEach, expect, test } from 'vitest';
import { afterLast, stops } from './focus';

afterEach(() => document.body.replaceChildren());

/** An element with these in it, each of a kind, with an id. */
function box(...parts: [kind: string, id: string, attributes?: Record<string, string>][]): HTMLElement {
  const inside = document.createElement('div');
  for (const [kind, id, attributes = {}] of parts) {
    const part = document.createElement(kind);
    part.id = id;
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
    inside.append(part);
  }
  document.body.append(inside);
  return inside;
}
const at = (id: string) => document.getElementById(id)!;

test('Tab stops at what can be used, in order', () => {
  const inside = box(
    ['button', 'a'],
    ['button', 'b', { disabled: '' }],
    ['a', 'c', { href: '#c' }],
    ['a', 'd'],
    ['span', 'e', { tabindex: '-1' }],
    ['input', 'f'],
  );
  expect(stops(inside).map((one) => one.id)).toEqual(['a', 'c', 'f']);
});

test('Tab at the last one goes to the first, and backwards the other way', () => {
  const inside = box(['button', 'a'], ['button', 'b'], ['button', 'c']);
  const cases: [from: string, backwards: boolean, to: string | null][] = [
    ['a', false, null],
    ['c', false, 'a'],
    ['a', true, 'c'],
    ['b', true, null],
  ];
  for (const [from, backwards, to] of cases) {
    at(from).focus();
    expect(afterLast(inside, backwards)?.id ?? null, `${from} ${backwards}`).toBe(to);
  }
});

test('a focus that got out comes back in', () => {
  const inside = box(['button', 'a']);
  expect(afterLast(inside, false)?.id).toBe('a');
});
