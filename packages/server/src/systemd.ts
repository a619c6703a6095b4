import { spawn } from 'node:child_process';
import type { Logger } from '@engram/core';

const TIMEOUT_MS = 5000;

/**
 * Tells systemd that the member serves. Units of Type=notify wait for it. Node has no sockets of the kind that systemd
 * listens on, so systemd's own tool sends the message. The unit needs NotifyAccess=all, because a child process sends
 * the message.
 */
export function notifyReady(environment: Readonly<Record<string, string | undefined>>, logger: Logger): void {
  if ((environment['NOTIFY_SOCKET'] ?? '') === '') return;
  const child = spawn('systemd-notify', ['--ready', `--pid=${process.pid}`], { stdio: 'ignore', timeout: TIMEOUT_MS });
  child.on('error', (error) => logger.warn({ error }, 'failed to notify systemd for readiness'));
  child.on('exit', (code) => {
    if (code !== 0) logger.warn({ code }, 'failed to notify systemd for readiness');
  });
  child.unref();
}
