// Words for what a server says of itself otherwise than was accepted.
import type { GoneView, PinnedThing, PinView } from '../../lib/backend';
import { count } from '../../lib/format';

/** What there is one of is called by what it is; a tool, a prompt, a capability by its name. */
export function nounOf(thing: PinnedThing): string | null {
  return thing === 'instructions' ? 'Its instructions' : thing === 'program' ? 'The program that runs' : null;
}

export function howOf(pin: PinView): string {
  const kind = pin.thing === 'prompt' || pin.thing === 'capability' ? `${pin.thing}, ` : '';
  if (pin.isNew) return `${kind}new`;
  return `${kind}${pin.thing === 'program' ? 'another than you accepted' : 'described otherwise'}`;
}

export function heading(changed: PinView[], fresh: PinView[], gone: GoneView[]): string {
  const program = changed.some((one) => one.thing === 'program');
  const others = changed.filter((one) => one.thing !== 'program').length;
  if (program && others === 0) return 'The program behind it is another than you accepted';
  if (program) return `Another program than you accepted, and ${count(others, 'definition')} with it`;
  if (others > 0) return `${count(others, 'definition')} other than you accepted`;
  if (fresh.length > 0)
    return fresh.every((one) => one.thing === 'tool') ? count(fresh.length, 'new tool') : `${fresh.length} new`;
  return gone.length > 0 ? `${count(gone.length, 'pinned definition')} no longer listed` : '';
}
