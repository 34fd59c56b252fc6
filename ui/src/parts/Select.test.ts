// @vitest-environment jsdom
// The list to choose from: by mouse, by keyboard, and what a screen reader is told.
import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import Select from './Select.svelte';

const choices = ['All servers', 'files', 'fetch', 'github'].map((words, index) => ({
  value: index === 0 ? '' : words,
  words,
}));

function shown(value = '') {
  const onpick = vi.fn();
  render(Select, { props: { label: 'Server', value, choices, testid: 'pick', onpick } });
  return { onpick, button: screen.getByTestId('pick') };
}

afterEach(cleanup);

describe('a list to choose from', () => {
  it('names what is chosen, and opens on it', async () => {
    const { button } = shown('fetch');
    expect(button.textContent).toContain('fetch');
    await fireEvent.click(button);
    expect(button.getAttribute('aria-expanded')).toBe('true');
    const active = document.getElementById(button.getAttribute('aria-activedescendant') ?? '');
    expect(active?.dataset.value).toBe('fetch');
    expect(active?.getAttribute('aria-selected')).toBe('true');
  });

  it('is walked by arrows and letters, and taken by Enter', async () => {
    const { button, onpick } = shown();
    await fireEvent.keyDown(button, { key: 'ArrowDown' });
    await fireEvent.keyDown(button, { key: 'f' });
    await fireEvent.keyDown(button, { key: 'e' });
    await fireEvent.keyDown(button, { key: 'Enter' });
    expect(onpick).toHaveBeenCalledExactlyOnceWith('fetch');
    expect(screen.queryByRole('listbox', { hidden: true })).toBeNull();
  });

  it('is left as it was by Escape, which closes nothing behind it', async () => {
    const behind = vi.fn();
    addEventListener('keydown', behind);
    const { button, onpick } = shown('files');
    await fireEvent.keyDown(button, { key: 'End' });
    expect(screen.queryByRole('listbox', { hidden: true })).toBeNull();
    await fireEvent.keyDown(button, { key: 'ArrowUp' });
    behind.mockClear();
    await fireEvent.keyDown(button, { key: 'Escape' });
    expect(screen.queryByRole('listbox', { hidden: true })).toBeNull();
    expect(onpick).not.toHaveBeenCalled();
    expect(behind).not.toHaveBeenCalled();
    removeEventListener('keydown', behind);
  });

  it('takes what is clicked, and nothing when that was chosen already', async () => {
    const { button, onpick } = shown('files');
    for (const [value, times] of [
      ['files', 0],
      ['github', 1],
    ] as const) {
      await fireEvent.click(button);
      await fireEvent.click(
        screen.getAllByRole('option', { hidden: true }).find((one) => one.dataset.value === value)!,
      );
      expect(onpick).toHaveBeenCalledTimes(times);
    }
  });
});
