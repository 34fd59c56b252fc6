// Saving settings: nothing that a person set gets lost.
import { beforeEach, describe, expect, it } from 'vitest';
import { App } from '../../lib/app.svelte';
import type { UserSettings } from '../../lib/backend';
import { diskFull, RecordedDesk } from '../../testing/desk';
import { SettingsModel } from './model.svelte';

let desk: RecordedDesk;
let model: SettingsModel;
/** What is on disk. */
let saved: UserSettings;

const view = () => ({ ...desk.recorded('settings'), settings: saved });
function save(settings: UserSettings) {
  saved = settings;
  return view();
}

beforeEach(async () => {
  desk = new RecordedDesk();
  saved = desk.recorded('settings').settings;
  desk.answer('settings', view);
  desk.answer('saveSettings', ({ settings }) => save(settings));
  model = new SettingsModel(new App(desk.backend));
  await model.load();
});

/** Saves wait until they are let go, as on a slow disk. */
function slow(): () => void {
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  desk.answer('saveSettings', async ({ settings }) => {
    await gate;
    return save(settings);
  });
  return go;
}

describe('saving settings', () => {
  it('keeps a new name to mask when something else is changed at once', async () => {
    const go = slow();
    model.texts.names = 'iban';
    const names = model.saveNames();
    const theme = model.save('theme', () => ({ theme: 'dark' }), 'Theme: dark.');
    const notify = model.save(
      'alarms',
      (now) => ({ notifications: { ...now.notifications, alarms: false } }),
      'Not notified.',
    );
    go();
    expect(await Promise.all([names, theme, notify])).toEqual([true, true, true]);
    expect(saved).toMatchObject({ maskNames: ['iban'], theme: 'dark', notifications: { alarms: false } });
  });

  it('taking a change back before it was saved takes it back', async () => {
    const go = slow();
    model.texts.names = 'iban';
    const there = model.saveNames();
    model.texts.names = '';
    const back = model.saveNames();
    go();
    await Promise.all([there, back]);
    expect(saved.maskNames).toEqual([]);
  });

  it('leaves what is being typed elsewhere alone', async () => {
    model.texts.names = 'half a na';
    model.texts.days = '9';
    await model.saveDays();
    expect(saved.historyDays).toBe(9);
    expect(model.texts.names).toBe('half a na');
  });

  it('goes on after a save that failed, from what is really saved', async () => {
    let first = true;
    desk.answer('saveSettings', ({ settings }) => {
      if (first) {
        first = false;
        throw diskFull;
      }
      return save(settings);
    });
    const before = saved.theme;
    const failing = model.save('theme', () => ({ theme: 'dark' }), 'Theme: dark.');
    model.texts.names = 'iban';
    const names = model.saveNames();
    expect(await failing).toBe(false);
    expect(await names).toBe(true);
    expect(model.problems.theme).toBe(diskFull.message);
    expect(saved).toMatchObject({ theme: before, maskNames: ['iban'] });
  });
});
