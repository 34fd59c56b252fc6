// Saving settings: nothing that a person set gets lost.
import { beforeEach, describe, expect, it } from 'vitest';
import { App } from '../../lib/app.svelte';
import { BackendError } from '../../lib/backend';
import { fakeBackend, type FakeBackend } from '../../lib/backend/fake';
import { SettingsModel } from './model.svelte';

let fake: FakeBackend;
let model: SettingsModel;

beforeEach(async () => {
  fake = fakeBackend({ calls: 5, rate: 0 });
  model = new SettingsModel(new App(fake));
  await model.load();
});

/** Saves wait until they are let go, as on a slow disk. */
function slow(): () => void {
  const save = fake.saveSettings.bind(fake);
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  fake.saveSettings = async (settings) => {
    await gate;
    return save(settings);
  };
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
    expect(fake.world.settings).toMatchObject({ maskNames: ['iban'], theme: 'dark', notifications: { alarms: false } });
  });

  it('taking a change back before it was saved takes it back', async () => {
    const go = slow();
    model.texts.names = 'iban';
    const there = model.saveNames();
    model.texts.names = '';
    const back = model.saveNames();
    go();
    await Promise.all([there, back]);
    expect(fake.world.settings.maskNames).toEqual([]);
  });

  it('leaves what is being typed elsewhere alone', async () => {
    model.texts.names = 'half a na';
    model.texts.days = '9';
    await model.saveDays();
    expect(fake.world.settings.historyDays).toBe(9);
    expect(model.texts.names).toBe('half a na');
  });

  it('goes on after a save that failed, from what is really saved', async () => {
    const save = fake.saveSettings.bind(fake);
    let first = true;
    fake.saveSettings = (settings) => {
      if (!first) return save(settings);
      first = false;
      return Promise.reject(new BackendError({ code: 'failed', message: 'The disk is full.', detail: null }));
    };
    const before = fake.world.settings.theme;
    const failing = model.save('theme', () => ({ theme: 'dark' }), 'Theme: dark.');
    model.texts.names = 'iban';
    const names = model.saveNames();
    expect(await failing).toBe(false);
    expect(await names).toBe(true);
    expect(model.problems.theme).toBe('The disk is full.');
    expect(fake.world.settings).toMatchObject({ theme: before, maskNames: ['iban'] });
  });
});
