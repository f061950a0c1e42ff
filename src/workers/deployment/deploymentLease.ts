import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import { deploymentLeaseStream } from '../../events/deployment/deploymentLease.stream.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import type { FencingToken } from '../../events/attempts.js';
import { processActor } from '../contextOf.js';
import { createLeaseRecords } from '../leaseRecords.js';
import { LeaseLost } from '../heldLease.js';
import { runLeasedTask } from '../leasedTask.js';
import {
  deploymentLeaseFold,
  deploymentLeaseProcess,
  type DeploymentLeaseState,
  type ReleaseLease,
} from './deploymentLease.process.js';

const actor = processActor('deployment');
/** Longer than an embedded build waits and takes. */
const TIMEOUT_MS = 5 * 60_000;

type Ended<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * Runs `act` while nobody else acts for that website, in any process. When a process dies in it, the next one
 * begins some seconds later. `act` is repeated when its process slept meanwhile, so that another may have acted.
 * @param contextNow of a further command, at each call
 * @param act begins after the call has returned, and calls `assertHeld` right before it begins anything at a provider
 */
export type DeploymentLease = <Result>(
  websiteId: string,
  contextNow: () => CommandContext,
  act: (assertHeld: () => void) => Promise<Result>,
) => Promise<Result>;

/**
 * The lease of this process: for each website its stream is the lock among all processes, and within
 * this one requests wait for each other in memory.
 */
export const createDeploymentLease = ({ engine, records }: { engine: Engine; records: RecordStore }): DeploymentLease => {
  const { clock, logger } = engine;
  const worker = engine.ids.commandId();
  const leases = createLeaseRecords(records, clock);
  const mutex = createKeyedMutex();
  const { signal } = new AbortController();

  const underLease = async <Result>(
    websiteId: string,
    contextNow: () => CommandContext,
    act: (assertHeld: () => void) => Promise<Result>,
  ): Promise<Result> => {
    let ended: Ended<Result> | undefined;
    let blocker: FencingToken | undefined;
    const read = async (): Promise<DeploymentLeaseState> => (await engine.state(deploymentLeaseFold, { websiteId })).state;

    /** Ends early once the lease that was seen is released. */
    const pause = async (timeoutMs: number): Promise<void> => {
      await engine.waitFor([deploymentLeaseStream.name({ websiteId })], { timeoutMs }, async () =>
        (await read()).attempts.lease?.token === blocker ? null : true,
      );
    };

    await runLeasedTask<DeploymentLeaseState, ReleaseLease>(
      engine,
      { signal, pause, leases },
      {
        worker,
        logger: () => logger.child({ worker: 'deployment', websiteId }),
        load: async () => {
          if (ended !== undefined) return null;
          const state = await read();
          blocker = state.attempts.lease?.token;
          return state;
        },
        handle: async (command) => {
          const because = { ...contextNow(), actor };
          return (await engine.handle(deploymentLeaseProcess, { websiteId, ...command }, because)).state;
        },
        timeoutMs: () => TIMEOUT_MS,
        execute: async (_, lease) => {
          try {
            ended = {
              result: await act(() => {
                lease.assertHeld();
              }),
            };
          } catch (error) {
            if (error instanceof LeaseLost) throw error;
            ended = { error };
          }
          return { type: 'ReleaseLease' };
        },
      },
    );
    if (ended === undefined) throw new Error(`the deployment of website ${websiteId} was not begun`);
    if ('error' in ended) throw ended.error;
    return ended.result;
  };

  return (websiteId, contextNow, act) => mutex.run(websiteId, () => underLease(websiteId, contextNow, act));
};
