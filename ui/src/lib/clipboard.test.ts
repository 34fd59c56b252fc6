// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import { copyText } from './clipboard';

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(document, 'execCommand');
});

const clipboard = (writeText: (text: string) => Promise<void>) =>
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });

describe('copying', () => {
  it('uses the clipboard where there is one', async () => {
    const write = vi.fn(async () => undefined);
    clipboard(write);
    expect(await copyText('a')).toBe(true);
    expect(write).toHaveBeenCalledWith('a');
  });

  it('takes the old way where it is not permitted, and leaves nothing behind', async () => {
    clipboard(() => Promise.reject(new Error('no')));
    let taken = '';
    document.execCommand = () => {
      taken = (document.activeElement as HTMLTextAreaElement).value;
      return true;
    };
    expect(await copyText('a path')).toBe(true);
    expect(taken).toBe('a path');
    expect(document.querySelector('textarea')).toBeNull();
  });

  it('says so where there is no way', async () => {
    vi.stubGlobal('navigator', {});
    document.execCommand = () => false;
    expect(await copyText('a')).toBe(false);
  });
});
