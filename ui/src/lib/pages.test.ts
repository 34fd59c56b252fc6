import { describe, expect, it } from 'vitest';
import { coded, page } from './pages';

describe('pages of errors', () => {
  it('sets a code apart however it is written', () => {
    expect(coded('the port is in use (see docs/errors/CG-113.md). Its last words: x')).toEqual([
      { text: 'the port is in use (see ', code: null },
      { text: 'CG-113', code: 'CG-113' },
      { text: '). Its last words: x', code: null },
    ]);
    expect(coded('see `callgate explain CG-120`').map((part) => part.code)).toEqual([null, 'CG-120', null]);
    expect(coded('CG-999 is none')).toEqual([{ text: 'CG-999 is none', code: null }]);
    expect(coded('')).toEqual([]);
  });

  it('has a page with something to do for each code', () => {
    const blocks = page('CG-113');
    expect(blocks[0]).toEqual({ kind: 'title', text: 'CG-113: the port is in use' });
    expect(blocks.filter((block) => block.kind === 'item').length).toBe(2);
    expect(page('CG-999')).toEqual([]);
  });
});
