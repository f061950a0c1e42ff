/**
 * Runs tasks of the same key one after the other, whether they succeed or fail; those of different keys side by side.
 * @param lastOf the last task of each key that has any under way; nothing is left of a key when its tasks are done
 */
export const createTurns = (
  lastOf = new Map<string, Promise<unknown>>(),
): (<Result>(key: string, task: () => Promise<Result>) => Promise<Result>) => {
  return async (key, task) => {
    const before = lastOf.get(key);
    const mine = before === undefined ? task() : before.then(task, task);
    lastOf.set(key, mine);
    try {
      return await mine;
    } finally {
      if (lastOf.get(key) === mine) lastOf.delete(key);
    }
  };
};
