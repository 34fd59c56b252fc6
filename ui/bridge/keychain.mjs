// A session bus of a world's own with the real GNOME Keyring on it, just unlocked, and empty.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const config = (socket) => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
`;

/** Starts both, and gives them with the address of the bus. */
export async function startKeychain(folder, env) {
  const socket = join(folder, 'bus');
  const address = `unix:path=${socket}`;
  writeFileSync(join(folder, 'bus.conf'), config(socket));
  const words = [`--config-file=${join(folder, 'bus.conf')}`, '--nofork', '--print-address=1'];
  const bus = spawn('dbus-daemon', words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(bus.stdout, 'data');
  const data = join(folder, 'keyring');
  mkdirSync(data, { mode: 0o700 });
  const here = { ...env, DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: data, XDG_DATA_HOME: data };
  const keyring = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
    env: here,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keyring.stdin.end('a password of the test');
  const ask = ['--session', '--print-reply', '--dest=org.freedesktop.DBus', '/org/freedesktop/DBus'];
  const owned = [...ask, 'org.freedesktop.DBus.NameHasOwner', 'string:org.freedesktop.secrets'];
  while (!(await run('dbus-send', owned, { env: here })).stdout.includes('boolean true'))
    if (keyring.exitCode !== null) throw new Error('the keyring ended');
  return { address, processes: [keyring, bus] };
}
