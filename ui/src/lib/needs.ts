// Which section a need is about: where its badge sits, and where it is looked at.
import type { Need } from './backend';
import type { Section } from './router.svelte';

export function sectionOf({ fix, server }: Need): Section {
  switch (fix?.kind) {
    case 'openRules':
    case 'restoreDefault':
      return 'rules';
    case 'openClients':
      return 'clients';
    case 'openApprovals':
      return 'approvals';
    case 'openSettings':
      return 'settings';
    case 'openDefinitions':
    case 'resume':
    case 'pauseServer':
    case 'endAllowance':
      return 'servers';
    default:
      return server === null ? 'activity' : 'servers';
  }
}
