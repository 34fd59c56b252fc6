// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { CodegenState, CodegenView } from '../../lib/backend';
import { clearing, exportedTest, thrownAway } from './codegen';

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
    clearing: null,
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

describe('what a clear would do', () => {
  const open = (actions: number, said: CodegenView['clearing']) =>
    clearing({ ...session('open', actions, false), clearing: said });

  it('is warned of before, with a way to keep it where there is one', () => {
    expect(open(12, { kind: 'passes', canBeKept: true })).toEqual({
      warn: true,
      keep: true,
      words: 'The agent may clear this: 12 actions would be gone from the server. Callgate keeps its own copy.',
    });
    const watched = open(1, { kind: 'passes', canBeKept: false });
    expect(watched).toMatchObject({ warn: true, keep: false });
    expect(watched?.words).toContain('1 action would be gone');
    expect(watched?.words).toContain('only watch');
  });

  it('is said quietly where it is refused, and not at all where nothing is lost', () => {
    expect(open(3, { kind: 'kept' })).toEqual({
      warn: false,
      keep: false,
      words: 'Clearing is refused until it has ended.',
    });
    expect(open(3, { kind: 'refused', reason: 'all calls are paused by the user' })?.words).toBe(
      'Clearing is refused: all calls are paused by the user.',
    );
    expect(open(0, null)).toBeNull();
  });
});
