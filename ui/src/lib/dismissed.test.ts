import { beforeEach, expect, it } from 'vitest';
import { App } from './app.svelte';
import type { Need } from './backend';
import { RecordedDesk } from '../testing/desk';

beforeEach(() => localStorage.clear());

it('what is good to know is said once; what is serious or can be mended stays', async () => {
  const tray: Need = { words: 'There is no tray icon.', fix: null, server: null, serious: false };
  const serious: Need = { ...tray, words: 'Not protected.', serious: true };
  const start = async () => {
    const desk = new RecordedDesk();
    desk.answer('overview', { ...desk.recorded('overview'), needs: [serious, tray] });
    const app = new App(desk.backend);
    await app.refresh();
    return app;
  };
  const app = await start();
  expect(app.needs).toHaveLength(2);
  app.dismiss(tray);
  app.dismiss(serious);
  expect(app.needs).toEqual([serious]);
  expect((await start()).needs).toEqual([serious]);
  localStorage.setItem('callgate.dismissed', 'nonsense');
  expect((await start()).needs).toHaveLength(2);
});
