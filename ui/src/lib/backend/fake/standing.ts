// How the made-up gate stands at this moment.
import type { Backend } from '../backend';
import type * as T from '../backend';
import { number } from '../../format';
import type { World } from './world';

const headlines: Record<T.IconState, string> = {
  quiet: 'All quiet',
  blockedLately: 'Refused something lately',
  needsYou: 'Needs you',
  paused: 'Paused: calls are refused',
  notProtecting: 'Not protecting',
};

export function fakeStanding(world: World): Pick<Backend, 'overview'> {
  return {
    async overview() {
      const midnight = new Date(world.now()).setHours(0, 0, 0, 0);
      const today = [...world.calls()].filter((line) => line.atMs >= midnight);
      const refused = today.filter((line) => line.refused);
      const running = world.sessions.filter((session) => session.endedMs === null);
      const servers = new Set(running.map((session) => session.server)).size;
      const needs: T.Need[] = [];
      if (world.pausedAll)
        needs.push({
          words: 'Everything is paused',
          fix: { kind: 'resume', server: null },
          server: null,
          serious: true,
        });
      for (const server of world.pausedServers)
        needs.push({ words: `${server} is paused`, fix: { kind: 'resume', server }, server, serious: true });
      if (world.defaultBroken)
        needs.push({
          words:
            'The default policy is broken: servers without a policy of their own refuse every call. Line 3: a comma is missing.',
          fix: { kind: 'restoreDefault' },
          server: null,
          serious: true,
        });
      needs.push(...world.needs);
      const lately = refused.some((line) => line.atMs > world.now() - 600_000);
      const paused = world.pausedAll || world.pausedServers.size > 0;
      const icon = paused ? 'paused' : needs.length > 0 ? 'needsYou' : lately ? 'blockedLately' : 'quiet';
      return {
        icon,
        headline: headlines[icon],
        unprotected: 0,
        needs,
        status:
          world.entries.length === 0
            ? 'No server has run yet'
            : `${servers} servers, ${number(today.length)} calls today, ${number(refused.length)} refused`,
        serversRunning: servers,
        sessionsRunning: running.length,
        callsToday: today.length,
        refusedToday: refused.length,
        pausedAll: world.pausedAll,
        pausedServers: [...world.pausedServers],
        allowances: world.allowances.filter((one) => one.endsMs > world.now()),
        recent: today.slice(-5).reverse(),
        alarms: [],
        firstRun: world.entries.length === 0,
        demoRunning: world.demoRunning,
        askLogin: world.askLogin,
      };
    },
  };
}
