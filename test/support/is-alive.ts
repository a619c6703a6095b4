/** Whether a process has this pid. One that has ended counts until its parent has heard of it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
