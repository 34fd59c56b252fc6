import { expect, it } from 'vitest';
import { isShortcut, typing } from './keys';

const made = (name: string, type = '') => {
  const element = document.createElement(name);
  if (type !== '') element.setAttribute('type', type);
  return element;
};

it('only what takes text is typed into', () => {
  for (const one of [made('input'), made('input', 'search'), made('input', 'number'), made('textarea')])
    expect(typing(one), one.tagName).toBe(true);
  for (const one of [made('input', 'radio'), made('input', 'checkbox'), made('button'), made('select')])
    expect(typing(one), one.tagName).toBe(false);
});

it('a select keeps letters, which look for a choice, and leaves digits', () => {
  const select = made('select');
  const counts = (key: string) => {
    let said = false;
    select.onkeydown = (event) => (said = isShortcut(event));
    select.dispatchEvent(new KeyboardEvent('keydown', { key }));
    return said;
  };
  expect([counts('b'), counts('Home'), counts('2'), counts('?')]).toEqual([false, false, true, true]);
});
