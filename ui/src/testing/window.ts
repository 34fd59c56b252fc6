// The whole window on a recorded desk.
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import Root from '../App.svelte';
import { App } from '../lib/app.svelte';
import type { RecordedDesk } from './desk';

// A busy machine needs its time to compile the sections.
vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 50_000 });

beforeEach(() => {
  localStorage.clear();
  Element.prototype.scrollIntoView ??= () => undefined;
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

export function show(desk: RecordedDesk, hash: string): App {
  history.replaceState(null, '', hash);
  const app = new App(desk.backend);
  render(Root, { props: { app } });
  return app;
}

export const press = async (testid: string, inside: HTMLElement = document.body) =>
  fireEvent.click(await within(inside).findByTestId(testid));

export const type = async (testid: string, value: string) =>
  fireEvent.input(await screen.findByTestId(testid), { target: { value } });

/** Says yes once it can be heard: in its first moment no answer counts. */
export async function accept(testid = 'question-yes'): Promise<void> {
  const yes = await screen.findByTestId(testid);
  await waitFor(() => expect(yes.getAttribute('aria-disabled')).toBe('false'));
  await fireEvent.click(yes);
}

export const toasts = () =>
  screen
    .queryAllByTestId('toast')
    .map((one) => one.textContent)
    .join('\n');
