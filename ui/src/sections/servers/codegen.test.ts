// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { CodegenState, CodegenView } from '../../lib/backend';
import { exportedTest, thrownAway } from './codegen';

function session(state: CodegenState, actions: number, gone: boolean): CodegenView {
  return {
    id: 'p-1',
    session: 's',
    server: 'playwright',
    client: 'claude-ai',
    state,
    startedMs: 0,
    endedMs: null,
    output: null,
    file: null,
    actions,
    thrownAway: gone,
  };
}

describe('what became of recorded actions', () => {
  it('is said where only Callgate has them', () => {
    expect(thrownAway(session('cleared', 12, true))).toBe('Clearing threw 12 actions away. Callgate still has them.');
    expect(thrownAway(session('cleared', 1, true))).toBe('Clearing threw 1 action away. Callgate still has it.');
    expect(thrownAway(session('lost', 12, true))).toBe('The server went away with 12 actions, which are saved here.');
  });
  it('is not said where nothing was lost', () => {
    expect(thrownAway(session('ended', 12, false))).toBeNull();
    expect(thrownAway(session('cleared', 0, false))).toBeNull();
  });
  it('an export names its file', () => {
    expect(exportedTest({ path: '/a.spec.ts', calls: 1 })).toBe('Wrote a test of 1 action to /a.spec.ts');
  });
});
